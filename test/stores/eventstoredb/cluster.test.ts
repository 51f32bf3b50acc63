import type { ExecutionContext } from 'ava';
import test from 'ava';
import { appendDurably } from '../../../src/event-sourcing/deciding/append-durably.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import { makeSeededRandom, realClock } from '../../support/fakes/clock.js';
import { makeServerLog } from '../../support/servers/eventstoredb-server/log.js';
import { openTestStore } from '../../support/servers/eventstoredb-server/open-test-store.js';
import {
  startEventStoreDbServer,
  type EventStoreDbServer,
} from '../../support/servers/eventstoredb-server/server.js';

const deps = { clock: realClock, random: makeSeededRandom(11) };

/** Starts two nodes on one log. The first one leads until it fails. */
async function givenCluster(t: ExecutionContext) {
  const log = makeServerLog();
  let ports: readonly number[] = [];
  let firstLeads = true;
  const members = () =>
    ports.map((port, index) => ({
      host: '127.0.0.1',
      port,
      state: (index === 0) === firstLeads ? ('leader' as const) : ('follower' as const),
      alive: index !== 0 || firstLeads,
    }));
  const first = await startEventStoreDbServer({ log, members });
  const leader = { host: '127.0.0.1', port: first.port };
  const second = await startEventStoreDbServer({ log, members, leader: () => (firstLeads ? leader : null) });
  ports = [first.port, second.port];
  t.teardown(() => Promise.all([first.close(), second.close()]));
  return {
    leader: first,
    follower: second,
    failLeader: () => {
      firstLeads = false;
      return first.network.refuse();
    },
  };
}

function given(t: ExecutionContext, url: string): EventStore {
  const store = openTestStore(url);
  t.teardown(() => store.close());
  return store;
}

function urlOf(...nodes: readonly EventStoreDbServer[]): string {
  return `esdb://${nodes.map((node) => `127.0.0.1:${node.port}`).join(',')}?tls=false&discoveryInterval=10`;
}

test.serial('Reads of a follower go to its leader', async (t) => {
  const { follower } = await givenCluster(t);
  const store = given(t, urlOf(follower));
  t.deepEqual(await store.read(uniqueStream()), []);
  t.is((await store.append(uniqueStream(), 'no-stream', makeEvents(2)))?.revision, 1n);
  t.is((await store.readAll({ after: null, limit: 10 })).events.length, 2);
});

test.serial('An append to a follower is repeated at its leader and written once', async (t) => {
  const { leader, follower } = await givenCluster(t);
  const store = given(t, urlOf(follower));
  const stream = uniqueStream();
  await appendDurably({ eventStore: store, ...deps }, { stream, expected: 'no-stream' }, makeEvents(2));
  t.is(leader.log.stream(`test.${stream}`)?.length, 2);
  t.is(follower.faults.calls.length, 0, 'the follower refused before any effect');
});

for (const scheme of ['hosts', 'discovery'] as const) {
  test.serial(`A cluster given by ${scheme} continues when its leader is gone`, async (t) => {
    const { leader, follower, failLeader } = await givenCluster(t);
    const url = urlOf(leader, follower);
    const store = given(t, scheme === 'hosts' ? url : urlOf(follower).replace('esdb://', 'esdb+discover://'));
    const stream = uniqueStream();
    const append = (expected: 'no-stream' | bigint) =>
      appendDurably({ eventStore: store, ...deps }, { stream, expected }, makeEvents(1));
    t.is(await append('no-stream'), 0n);
    await failLeader();
    t.is(await append(0n), 1n);
    t.is((await store.read(stream)).length, 2);
  });
}

// The client starts its reconnection in a promise that it does not await. Without `guardReconnection`, each call below
// that fails while the cluster cannot be discovered is an unhandled rejection, which ends a process (and this test).
test.serial(
  'Calls that fail while the cluster cannot be discovered end neither the process nor the store',
  async (t) => {
    const { leader, follower } = await givenCluster(t);
    const url = `${urlOf(leader, follower)}&maxDiscoverAttempts=3`;
    const store = openTestStore(url, { limits: { callMs: 2_000 } });
    t.teardown(() => store.close());
    await store.append(uniqueStream(), 'no-stream', makeEvents(1));
    leader.faults.decideBy((call) =>
      call.kind === 'gossip' ? { answer: 'unavailable' } : { apply: 'now', answer: 'nothing' },
    );
    follower.faults.decideBy(() => ({ answer: 'unavailable' }));
    const hanging = Array.from({ length: 10 }, () =>
      store.append(uniqueStream(), 'no-stream', makeEvents(1)),
    );
    const settled = Promise.allSettled(hanging);
    await eventually(
      'all appends arrive',
      () => leader.faults.calls.filter((call) => call.kind === 'append').length >= 11,
    );
    leader.faults.next('append', { apply: 'never', answer: 'unavailable' });
    await t.throwsAsync(store.append(uniqueStream(), 'no-stream', makeEvents(1)), {
      instanceOf: StoreUnavailable,
    });
    const discovering = t.throwsAsync(store.read(uniqueStream()), { instanceOf: StoreUnavailable });
    leader.network.cut();
    await discovering;
    t.true((await settled).every((result) => result.status === 'rejected'));
    leader.faults.decideBy(null);
    follower.faults.decideBy(null);
    const revision = await appendDurably(
      { eventStore: store, ...deps },
      { stream: uniqueStream(), expected: 'no-stream' },
      makeEvents(1),
    );
    t.is(revision, 0n);
  },
);
