import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { appendDurably } from '../../../src/event-sourcing/deciding/append-durably.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { makeReads } from '../../../src/stores/eventstoredb/calls/reads.js';
import { makeClient } from '../../../src/stores/eventstoredb/client.js';
import { parseConnectionString } from '../../../src/stores/eventstoredb/connection-string.js';
import type { EventStoreDbOptions } from '../../../src/stores/eventstoredb/event-store.js';
import { makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import { makeSeededRandom, realClock } from '../../support/fakes/clock.js';
import { type ClusterOptions, startCluster } from '../../support/servers/eventstoredb-server/cluster.js';
import {
  givenServer,
  openTestStore,
  startEventStoreDbServer,
  type EventStoreDbServer,
} from '../../support/servers/eventstoredb-server/server.js';
import { testCertificate, testKey } from '../../support/servers/eventstoredb-server/tls.js';

const deps = { clock: realClock, random: makeSeededRandom(11) };

async function givenCluster(t: ExecutionContext, options: ClusterOptions = {}) {
  const cluster = await startCluster(options);
  t.teardown(cluster.close);
  const [leader, follower] = cluster.nodes as [EventStoreDbServer, EventStoreDbServer];
  return { ...cluster, leader, follower };
}

function given(t: ExecutionContext, url: string, options: Partial<EventStoreDbOptions> = {}): EventStore {
  const store = openTestStore(url, options);
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
    t.like(await append('no-stream'), { revision: 0n });
    await failLeader();
    t.like(await append(0n), { revision: 1n });
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
    const { revision } = await appendDurably(
      { eventStore: store, ...deps },
      { stream: uniqueStream(), expected: 'no-stream' },
      makeEvents(1),
    );
    t.is(revision, 0n);
  },
);

test.serial(
  'The leader of a cluster over TLS is found where gossip names addresses and where it names hosts',
  async (t) => {
    const credentials = { certificate: testCertificate, key: testKey };
    for (const hosts of [
      ['127.0.0.1', '127.0.0.1'],
      ['localhost', 'localhost'],
      ['127.0.0.1', 'localhost'],
    ]) {
      const { leader, follower, failLeader, log } = await givenCluster(t, { hosts, tls: credentials });
      const seeds = [leader, follower].map(({ port }, index) => `${hosts[index] ?? ''}:${port}`);
      const store = given(t, overTls(seeds.join(',')));
      const [before, after] = [uniqueStream(), uniqueStream()];
      await store.append(before, 'no-stream', makeEvents(1));
      await failLeader();
      await appendDurably(
        { eventStore: store, ...deps },
        { stream: after, expected: 'no-stream' },
        makeEvents(1),
      );
      t.is(log.stream(`test.${after}`)?.length, 1, hosts.join());
      t.is((await store.read(before)).length, 1);
    }
  },
);

test.serial('A node whose certificate has another address is refused', async (t) => {
  const credentials = { certificate: testCertificate, key: testKey };
  const other = await startEventStoreDbServer({ tls: credentials, host: '127.0.0.2' });
  t.teardown(() => other.close());
  const store = given(t, overTls(`127.0.0.2:${other.port}`), { limits: { callMs: 2_000 } });
  await t.throwsAsync(store.read(uniqueStream()), { message: /altnames: IP: 127\.0\.0\.2/ });
  t.is(other.faults.calls.length, 0);
});

test.serial(
  'An election moves appends and reads to the new leader, and writes each append once',
  async (t) => {
    const { leader, follower, elect, log } = await givenCluster(t);
    const store = given(t, urlOf(leader, follower));
    const stream = uniqueStream();
    const append = (expected: 'no-stream' | bigint) =>
      appendDurably({ eventStore: store, ...deps }, { stream, expected }, makeEvents(1));
    await append('no-stream');
    // Given a node that still leads and is not ready, and then one that names the other
    leader.faults.next('append', { apply: 'never', answer: 'not-ready' });
    await append(0n);
    elect();
    await append(1n);
    t.is((await store.read(stream)).length, 3);
    t.is(log.stream(`test.${stream}`)?.length, 3);
    t.true(follower.faults.calls.some(({ kind }) => kind === 'append'));
  },
);

test.serial(
  'A leader that falls silent costs one time limit, once the others have elected another one',
  async (t) => {
    const { leader, follower, elect, log } = await givenCluster(t);
    const store = given(t, urlOf(leader, follower), { limits: { callMs: 1_000 } });
    const [stream, events] = [uniqueStream(), makeEvents(1)];
    await store.append(uniqueStream(), 'no-stream', makeEvents(1));
    // Given a leader that is frozen after it has written an append, which the election truncates
    const before = log.records.length;
    leader.faults.next('append', { apply: 'now', answer: 'nothing' });
    const unknown = t.throwsAsync(store.append(stream, 'no-stream', events), { instanceOf: OutcomeUnknown });
    await eventually('the append is in the log', () => log.stream(`test.${stream}`) !== null);
    leader.network.freeze();
    // When a further time limit passes before the election
    await unknown;
    await t.throwsAsync(store.read(stream), { instanceOf: StoreUnavailable });
    log.restore(before);
    elect();
    // Then the next calls go to the new leader: the read does not wait for the silent one
    t.deepEqual(await store.read(stream), []);
    t.is((await store.append(stream, 'no-stream', events))?.revision, 0n);
    t.is(log.stream(`test.${stream}`)?.length, 1);
  },
);

test.serial('A node that is slow to answer keeps its connection while it sends anything', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs: 500 } });
  await store.append(uniqueStream(), 'no-stream', makeEvents(1));
  server.faults.next('read', { answer: 'nothing' });
  const slow = t.throwsAsync(store.read(uniqueStream()), { instanceOf: StoreUnavailable });
  await store.append(uniqueStream(), 'no-stream', makeEvents(1));
  await slow;
  const probes = server.faults.calls.filter(({ kind }) => kind === 'probe').length;
  await store.append(uniqueStream(), 'no-stream', makeEvents(1));
  t.is(server.faults.calls.filter(({ kind }) => kind === 'probe').length, probes);
});

test.serial('A read that is given up counts as no answer of its node', async (t) => {
  // Given a read that the node does not answer
  const { server } = await givenServer(t);
  const parsed = parseConnectionString(urlOf(server));
  if (!('settings' in parsed)) return t.fail();
  const client = makeClient(parsed.settings, 60_000);
  t.teardown(() => client.shutDown());
  let heard = 0;
  client.heard = () => (heard += 1);
  const reads = makeReads(client, { username: 'user', password: 'password' });
  const read = (signal: AbortSignal) => reads.stream(uniqueStream(), { from: 0n, limit: 1 }, signal);
  server.faults.next('read', { answer: 'nothing' });
  const caller = new AbortController();
  const reading = t.throwsAsync(read(caller.signal));
  await eventually('the read arrives', () => server.faults.calls.some(({ kind }) => kind === 'read'));
  // When its caller gives it up, and another read finds no stream
  caller.abort(new Error('given up'));
  await reading;
  t.is(await read(new AbortController().signal), 'absent');
  // Then no answer was counted, so the node is left as silent, and not asked for the leader
  t.is(heard, 0);
});

/** @param hosts with their ports, separated by commas */
function overTls(hosts: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'stowage-ca-')), 'ca.crt');
  writeFileSync(file, testCertificate);
  return `esdb://user:password@${hosts}?tls=true&discoveryInterval=10&tlsCAFile=${encodeURIComponent(file)}`;
}
