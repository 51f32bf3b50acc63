import test from 'ava';
import { nodeAggregate } from '../../../../src/areas/nodes/domain/node/node.js';
import { nodeCheckKey } from '../../../../src/areas/nodes/domain/node/fold.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../../src/event-sourcing/ports/state-store.js';
import { eventually } from '../../../support/eventually.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { runNodeChecks } from '../../../support/simulation/node-checks.js';

const at = new Date('2026-01-02T03:04:05.000Z');

async function given(options: Parameters<typeof givenStores>[0] = {}) {
  const stores = await givenStores(options);
  const commands = givenCommands(stores);
  const { resource } = await commands.addNode(
    { name: 'edge-1', ip_address: '192.0.2.1' },
    givenContext(1, at, 'operator'),
  );
  let n = 1;
  const report = (ok: boolean, by = commands) => {
    n += 1;
    return by.reportNodeCheck(
      { nodeId: resource.id, ok },
      givenContext(n, new Date(at.getTime() + n * 1_000), 'agent'),
    );
  };
  return { stores, commands, nodeId: resource.id, report };
}

test('A check counts, and only a change of the status is an event', async (t) => {
  const { commands, stores, nodeId, report } = await given();
  for (let n = 0; n < 5; n += 1) await report(true);
  await report(false);
  const found = await commands.nodes.find(nodeId);
  t.like(found?.resource, {
    ...{ status: 'degraded', consecutive_failures: 1, consecutive_successes: 0 },
    last_checked_at: new Date(at.getTime() + 7_000).toISOString(),
    status_changed_at: new Date(at.getTime() + 7_000).toISOString(),
    updated_at: at.toISOString(),
  });
  t.is((await stores.handler.load(nodeAggregate, nodeId)).revision, 2n, 'registered, healthy, degraded');
  t.deepEqual(
    await commands.nodes.list(),
    [found?.resource],
    'the list shows the checks of this process at once',
  );
});

test('Another process shows the counters after a second', async (t) => {
  const { stores, report } = await given();
  const other = givenCommands(stores.anotherProcess());
  t.like(await other.nodes.list(), [{ consecutive_successes: 0 }]);
  await report(true);
  t.like(await other.nodes.list(), [{ consecutive_successes: 0 }]);
  stores.clock.advance(1_000);
  t.like(await other.nodes.list(), [{ consecutive_successes: 1, status: 'unknown' }]);
});

test('The next check repairs a crash between the counter and the event', async (t) => {
  let away = false;
  const { commands, nodeId, report } = await given({
    wrap: (store) => ({
      ...store,
      append: (...args) => (away ? Promise.reject(new StoreUnavailable('away')) : store.append(...args)),
    }),
  });
  await report(true);
  away = true;
  await t.throwsAsync(report(true), { instanceOf: StoreUnavailable });
  t.like((await commands.nodes.find(nodeId))?.resource, { status: 'unknown', consecutive_successes: 2 });
  away = false;
  // One failure of a node whose stream has missed that it is healthy.
  await report(false);
  t.like((await commands.nodes.find(nodeId))?.resource, { status: 'degraded', consecutive_failures: 1 });
});

test('An older check that arrives late leaves the newer status', async (t) => {
  const { stores, commands, nodeId, report } = await given();
  await report(true);
  await report(true);
  let release = (): void => undefined;
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { handler, ...slowStores } = stores.anotherProcess();
  const slow = givenCommands({
    ...slowStores,
    handler: {
      load: (...args) => handler.load(...args),
      handle: async (...args) => {
        await blocked;
        return handler.handle(...args);
      },
    },
  });
  const late: Promise<void>[] = [];
  for (const ok of [false, true]) {
    const before = await commands.nodeChecks.one(nodeId);
    late.push(report(ok, slow));
    const hasCounted = async () => (await commands.nodeChecks.one(nodeId))?.sequence !== before?.sequence;
    await eventually('the check is counted', hasCounted);
  }
  // The record is healthy again before the stream has seen that it was not.
  await report(true);
  release();
  await Promise.all(late);
  const { resource } = (await commands.nodes.find(nodeId)) ?? {};
  t.like(resource, { status: 'healthy', consecutive_successes: 2 });
});

const failures: readonly [string, Error][] = [
  ['is away', new StoreUnavailable('away')],
  ['does not say whether it wrote', new OutcomeUnknown('no answer')],
];
for (const [what, error] of failures) {
  test(`A check fails while the state store ${what}`, async (t) => {
    let away = false;
    const { commands, nodeId, report } = await given({
      wrapState: (store): StateStore => ({
        ...store,
        compareAndSet: (...args) => (away ? Promise.reject(error) : store.compareAndSet(...args)),
      }),
    });
    away = true;
    const progress: string[] = [];
    const request = {
      isOver: () => false,
      appending: () => void progress.push('appending'),
      wroteNothing: () => void progress.push('wrote nothing'),
    };
    const context = { ...givenContext(60, at, 'agent'), request };
    await t.throwsAsync(commands.reportNodeCheck({ nodeId, ok: false }, context), { is: error });
    const known = error instanceof OutcomeUnknown ? [] : ['wrote nothing'];
    t.deepEqual(progress, ['appending', ...known]);
    away = false;
    await report(false);
    t.like(
      (await commands.nodes.find(nodeId))?.resource,
      { consecutive_failures: 1 },
      'the failed check counts nothing',
    );
  });
}

test('A check that begins after its request was answered counts nothing', async (t) => {
  const { commands, stores, nodeId } = await given();
  const request = { isOver: () => true, appending: () => undefined, wroteNothing: () => undefined };
  const context = { ...givenContext(60, at, 'agent'), request };
  await t.throwsAsync(commands.reportNodeCheck({ nodeId, ok: false }, context), {
    instanceOf: StoreUnavailable,
  });
  t.is(await stores.stateStore.get(nodeCheckKey(nodeId)), null);
});

test('Checks from four processes at once end in the fold of their results', async (t) => {
  const events = await runNodeChecks(t, { checks: 400, nodes: 5, seed: 1, killed: 0 });
  t.true(events > 50, `${events} events`);
});

test('Checks of which some are killed before their event end in the fold of their results', async (t) => {
  const events = await runNodeChecks(t, { checks: 400, nodes: 5, seed: 2, killed: 0.1 });
  t.true(events > 50, `${events} events`);
});
