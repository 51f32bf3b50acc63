import test, { type ExecutionContext } from 'ava';
import { makeSilenceWatch } from '../../../../src/areas/nodes/commands/watch-silence.js';
import { nodeAggregate } from '../../../../src/areas/nodes/domain/node/node.js';
import { nodeCheckKey } from '../../../../src/areas/nodes/domain/node/fold.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { startSharedTask } from '../../../../src/event-sourcing/feeding/consumers/shared-task.js';
import { makeLease } from '../../../../src/event-sourcing/feeding/consumers/lease.js';
import { makeSeededRandom } from '../../../support/fakes/clock.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { makeVirtualClock } from '../../../support/kernel/virtual-clock.js';

const hourMs = 3_600_000;

/** Two processes that share the watch, and wall clocks that the test sets. The timers are true. */
async function given(t: ExecutionContext, options: Parameters<typeof givenStores>[0] = {}) {
  const clock = makeVirtualClock();
  const stores = await givenStores({ ...options, clock });
  const errors: unknown[] = [];
  const offsets = new Map<string, number>();
  let n = 100;
  const newContext = (by: string, actor: string) => {
    n += 1;
    return givenContext(n, new Date(clock.now().getTime() + (offsets.get(by) ?? 0)), actor);
  };
  const start = (id: string) => {
    const own = stores.anotherProcess();
    const wall = { ...clock, now: () => new Date(clock.now().getTime() + (offsets.get(id) ?? 0)) };
    const commands = givenCommands({ ...own, clock: { ...wall, advance: () => undefined } });
    const watch = makeSilenceWatch({ ...commands, newContext: () => newContext(id, 'system:node-silence') });
    const deps = {
      stateStore: stores.stateStore,
      clock: wall,
      onRetry: (error: unknown) => errors.push(error),
    };
    const lease = makeLease({ id, keyOf: () => 'task/node-silence', ...deps });
    const task = startSharedTask(
      { name: 'node-silence', intervalMs: 10_000, work: watch.examine, pause: watch.forget },
      { lease, clock: wall, onRetry: (_, error) => errors.push(error) },
    );
    const stop = async (): Promise<void> => {
      task.end();
      await clock.run(Promise.all([task.done, lease.stop()]));
    };
    t.teardown(stop);
    return { commands, stop, feeds: () => lease.isOwner() };
  };
  const [one, other] = [start('one'), start('other')];
  await clock.advance(3_000);
  const { resource } = await one.commands.addNode(
    { name: 'edge-1', ip_address: '192.0.2.1' },
    givenContext(1, clock.now(), 'operator'),
  );
  const { id } = resource;
  return {
    ...{ clock, stores, one, other, errors, offsets, id },
    report: (ok = true) => one.commands.reportNodeCheck({ nodeId: id, ok }, newContext('one', 'agent')),
    health: async () => (await stores.anotherProcess().handler.load(nodeAggregate, id)).state,
    record: async () => (await stores.stateStore.get(nodeCheckKey(id)))?.value,
  };
}

test('A silent node is unknown within 75 s and not before 60 s, also when clocks are set an hour forward and back', async (t) => {
  const { clock, offsets, report, health, record, errors } = await given(t);
  const random = makeSeededRandom(7);
  const setClocks = (): void => {
    for (const id of ['one', 'other']) offsets.set(id, [-hourMs, 0, hourMs][Math.floor(random() * 3)] ?? 0);
  };
  for (let round = 0; round < 4; round += 1) {
    await report();
    await report();
    for (let checks = 0; checks < 20; checks += 1) {
      await clock.advance(Math.floor(random() * 40_000));
      setClocks();
      await report();
      t.like(await health(), { health: 'healthy' }, `round ${round}, check ${checks}`);
    }
    const before = await record();
    for (let seconds = 0; seconds < 60; seconds += 1) {
      if (seconds % 7 === 0) setClocks();
      await clock.advance(1_000 - (seconds === 59 ? 1 : 0));
      t.like(await health(), { health: 'healthy' }, `round ${round}, ${seconds} s after the last check`);
    }
    await clock.advance(15_001);
    t.like(await health(), { health: 'unknown' }, `round ${round}, 75 s after the last check`);
    const { sequence: silentAt, ...silent } = (await record()) as { sequence: number };
    const { sequence: checkedAt, ...checked } = before as { sequence: number };
    t.deepEqual(silent, { ...checked, status: 'unknown' }, 'silence leaves the counters');
    t.true(silentAt > checkedAt);
  }
  t.deepEqual(errors, []);
});

test('A process that takes the watch over begins its own observation', async (t) => {
  const { clock, report, health, one, other } = await given(t);
  await report();
  await report();
  const [watching, waiting] = one.feeds() ? [one, other] : [other, one];
  await clock.advance(50_000);
  await watching.stop();
  await clock.advance(30_000);
  t.true(waiting.feeds());
  t.like(await health(), { health: 'healthy' });
  await clock.advance(50_000);
  t.like(await health(), { health: 'unknown' });
});

test('The watch repairs a crash between the silent record and the event', async (t) => {
  let away = false;
  const { clock, report, health, record, errors } = await given(t, {
    wrap: (store) => ({
      ...store,
      append: (...args) => (away ? Promise.reject(new StoreUnavailable('away')) : store.append(...args)),
    }),
  });
  await report();
  await report();
  away = true;
  await clock.advance(90_000);
  t.like(await record(), { status: 'unknown', successes: 2 });
  t.like(await health(), { health: 'healthy' });
  t.is(errors.length, 2, 'the failed event, and once the series of failed repairs');
  away = false;
  await clock.advance(20_000);
  t.like(await health(), { health: 'unknown' });
});

test('A check that is faster than the silent record wins', async (t) => {
  const meanwhile: { check: (() => Promise<void>) | null; checks: number } = { check: null, checks: 0 };
  const { clock, report, health, record } = await given(t, {
    wrapState: (store) => ({
      ...store,
      compareAndSet: async (key, expected, value, options) => {
        const { check } = meanwhile;
        if (check !== null && JSON.stringify(value).includes('"unknown"')) {
          meanwhile.check = null;
          meanwhile.checks += 1;
          await check();
        }
        return store.compareAndSet(key, expected, value, options);
      },
    }),
  });
  await report();
  await report();
  meanwhile.check = () => report();
  await clock.advance(80_000);
  t.is(meanwhile.checks, 1);
  t.like(await health(), { health: 'healthy' });
  t.like(await record(), { status: 'healthy', successes: 3 });
});

test('The watch removes the record of a removed node', async (t) => {
  const { clock, report, record, one, id } = await given(t);
  await report();
  await one.commands.removeNode({ nodeId: id }, givenContext(2, clock.now(), 'operator'));
  t.like(await record(), { successes: 1 });
  await clock.advance(30_000);
  t.is(await record(), undefined);
});
