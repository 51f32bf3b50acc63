import { makeLeaseWatch } from '../../../../src/event-sourcing/feeding/consumers/lease-watch.js';
import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../../../src/kit/time/clock.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { feederKey, type Lease, makeLease } from '../../../../src/event-sourcing/feeding/consumers/lease.js';
import { makeMemoryStateStore } from '../../../support/fakes/memory-state-store.js';
import { makeVirtualClock } from '../../../support/kernel/virtual-clock.js';

interface Process {
  readonly lease: Lease;
  /** Stops the calls of the process, as SIGKILL and SIGSTOP do. */
  freeze(): void;
  thaw(): void;
}

const view = 'view/users@1';
const mail = 'reaction/mail';

function given(t: ExecutionContext) {
  const clock = makeVirtualClock();
  const state = makeMemoryStateStore({ clock });
  const reports: unknown[] = [];
  const processes: Process[] = [];
  let away = false;
  /** Loses the answers to writes. */
  let deaf = false;
  t.teardown(async () => {
    away = false;
    for (const process of processes) process.thaw();
    await clock.run(Promise.all(processes.map(({ lease }) => lease.stop())));
    if (clock.sleepers > 0) throw new Error('something still waits after the stop');
  });
  const start = async (
    id: string,
    { clock: own = clock, consumers = [view, mail] }: { clock?: Clock; consumers?: readonly string[] } = {},
  ): Promise<Process> => {
    let thawed = Promise.resolve();
    let thaw = (): void => undefined;
    const call = async <Result>(run: () => Promise<Result>): Promise<Result> => {
      await thawed;
      if (away) throw new StoreUnavailable('no answer');
      return run();
    };
    const lease = makeLease({
      ...{ id, keyOf: feederKey, clock: own, onRetry: (error: unknown) => reports.push(error) },
      stateStore: {
        get: (key) => call(() => state.get(key)),
        compareAndSet: async (...args) => {
          const version = await call(() => state.compareAndSet(...args));
          if (deaf) throw new StoreUnavailable('the answer was lost');
          return version;
        },
      },
    });
    const process: Process = {
      lease,
      freeze: () => {
        thawed = new Promise((resolve) => {
          thaw = resolve;
        });
      },
      thaw: () => thaw(),
    };
    processes.push(process);
    for (const consumer of consumers) {
      const positions = { 'users@1.1': '0007' };
      lease.add(consumer, () => ({
        state: 'running',
        lagMs: consumer === view ? 40 : 0,
        problem: null,
        positions,
      }));
    }
    lease.start();
    await clock.advance(0);
    return process;
  };
  const owners = (): readonly string[] =>
    processes.filter(({ lease }) => lease.isOwner()).map(({ lease }) => lease.id);
  const set = (to: { away?: boolean; deaf?: boolean }): void => {
    ({ away = away, deaf = deaf } = to);
  };
  return { clock, state, reports, start, owners, set };
}

test('One of the processes that start together is the owner, and all read its record', async (t) => {
  const { clock, start, owners, state } = given(t);
  const processes = await Promise.all([start('a'), start('b'), start('c')]);
  t.is(owners().length, 1);
  await clock.advance(3_000);
  const [owner] = owners();
  for (const { lease } of processes) {
    t.deepEqual(lease.record(), {
      ...{ owner, feeds: [view, mail], positions: { 'users@1.1': '0007' }, lags_ms: { [view]: 40 } },
    });
    t.is(lease.elsewhere() === null, lease.isOwner());
  }
  t.deepEqual(
    (await state.list('', { limit: 10 })).map(({ key }) => key),
    [feederKey([mail, view])],
  );
});

test('Processes that can feed other consumers have another lease', async (t) => {
  const { start, owners } = given(t);
  await start('old');
  await start('new', { consumers: ['view/users@2', mail] });
  await start('newer', { consumers: ['view/users@2', mail, 'reaction/calls'] });
  t.deepEqual(owners(), ['old', 'new', 'newer']);
});

test('A lease that stands still is kept for 6 s and taken 4 s later, and the owner that comes back learns of it', async (t) => {
  const { clock, start, owners } = given(t);
  const first = await start('a');
  await start('b');
  const changes: string[] = [];
  first.lease.onChange(() => changes.push(owners().join()));
  await clock.advance(20_000);
  first.freeze();
  await clock.advance(5_900);
  t.deepEqual(owners(), ['a']);
  await clock.advance(4_100);
  t.deepEqual(owners(), ['a', 'b'], 'a frozen process does not know');
  first.thaw();
  await clock.advance(0);
  t.deepEqual(owners(), ['b']);
  t.deepEqual(changes, ['b']);
});

test('A lease that a crash has left is taken after 2.5 s', async (t) => {
  const { clock, start, owners } = given(t);
  const crashed = await start('crashed');
  await clock.advance(20_000);
  crashed.freeze();
  await clock.advance(1_000);
  await start('a');
  await clock.advance(2_400);
  t.deepEqual(owners(), ['crashed']);
  await clock.advance(100);
  t.deepEqual(owners(), ['crashed', 'a']);
});

test('A process that starts beside an owner takes no lease', async (t) => {
  const { clock, start, owners } = given(t);
  await start('a');
  for (const id of ['b', 'c', 'd']) {
    await clock.advance(1_234);
    await start(id);
  }
  await clock.advance(60_000);
  t.deepEqual(owners(), ['a']);
});

test('An owner that stops gives the lease up, and another process has it within 2 s', async (t) => {
  const { clock, start, owners, state } = given(t);
  const first = await start('a');
  await start('b');
  await clock.advance(10_000);
  await clock.run(first.lease.stop());
  t.true(first.lease.isOwner(), 'it feeds until its consumers end');
  t.is(await state.get(feederKey([view, mail])), null);
  await clock.advance(2_000);
  t.deepEqual(owners(), ['a', 'b']);
});

test('Steps of the wall clock move no lease', async (t) => {
  const { clock, start, owners } = given(t);
  let setByMs = 0;
  const set: Clock = {
    ...clock,
    now: () => new Date(clock.now().getTime() + setByMs),
  };
  await start('a', { clock: set });
  await start('b');
  for (const step of [3_600_000, -3_600_000, -7_200_000, 0]) {
    setByMs = step;
    await clock.advance(30_000);
    t.deepEqual(owners(), ['a'], String(step));
  }
});

test('A pause of all processes at once moves no lease', async (t) => {
  const { clock, start, owners } = given(t);
  let pausedMs = 0;
  const jumping: Clock = { ...clock, steadyMs: () => clock.now().getTime() + pausedMs };
  await start('a', { clock: jumping });
  await start('b', { clock: jumping });
  await clock.advance(20_000);
  pausedMs = 3_600_000;
  await clock.advance(30_000);
  t.deepEqual(owners(), ['a']);
});

test('While the state store does not answer, the owner stays, and each process reports that once', async (t) => {
  const { clock, start, owners, set, reports } = given(t);
  await start('a');
  await start('b');
  await clock.advance(10_000);
  set({ away: true });
  await clock.advance(700_000);
  t.deepEqual(owners(), ['a']);
  t.is(reports.length, 2);
  set({ away: false });
  await clock.advance(10_000);
  t.deepEqual(owners(), ['a']);
});

test('A lease whose record is gone stays with its owner', async (t) => {
  const { clock, start, owners, state } = given(t);
  const { lease } = await start('a');
  const changes: unknown[] = [];
  lease.onChange(() => changes.push(owners()));
  const key = feederKey([view, mail]);
  await state.compareAndSet(key, (await state.get(key))?.version ?? null, null);
  await clock.advance(2_000);
  t.not(await state.get(key), null);
  t.deepEqual([owners(), changes], [['a'], []]);
});

test('A write without an answer neither loses a lease nor hides that it was taken', async (t) => {
  const { clock, start, owners, set } = given(t);
  set({ deaf: true });
  await start('a');
  t.deepEqual(owners(), []);
  await clock.advance(2_000);
  t.deepEqual(owners(), ['a'], 'it finds its record');
  await clock.advance(10_000);
  set({ deaf: false });
  await start('b');
  await clock.advance(10_000);
  t.deepEqual(owners(), ['a']);
});

test('A process in which nothing has stopped takes over from one in which something has, and no other one does', async (t) => {
  const { clock, start, owners } = given(t);
  const [first, second] = [await start('a'), await start('b')];
  await clock.advance(5_000);
  first.lease.stopped(mail);
  await clock.advance(4_100);
  t.deepEqual(owners(), ['b']);
  t.deepEqual(first.lease.record()?.feeds, [view, mail]);
  second.lease.stopped(mail);
  await clock.advance(30_000);
  t.deepEqual(owners(), ['b']);
  second.lease.stopped(view);
  await clock.advance(4_100);
  t.deepEqual(owners(), ['a'], 'it feeds the view');
  t.deepEqual(second.lease.record()?.feeds, [view]);
});

test('The record of another release may have more fields, and one in another format is left alone while it changes', async (t) => {
  const { clock, start, owners, state } = given(t);
  const key = feederKey([view, mail]);
  const value = { owner: 'later', feeds: [view, mail], positions: {}, lags_ms: {}, colour: 'red' };
  let version = await state.compareAndSet(key, null, value);
  const { lease } = await start('a');
  t.is(lease.record()?.owner, 'later');
  for (let n = 0; n < 10; n += 1) {
    version = await state.compareAndSet(key, version, `odd ${n}`);
    await clock.advance(2_000);
  }
  t.is(lease.record(), null);
  t.deepEqual(owners(), []);
  await clock.advance(10_000);
  t.deepEqual(owners(), ['a']);
});

test('A watch shows the records of all releases and tasks, and none that no process renews', async (t) => {
  const { clock, start, state } = given(t);
  await start('live');
  const left = { owner: 'dead', feeds: ['task/node-silence'], positions: {}, lags_ms: {} };
  await state.compareAndSet('task/node-silence', null, left);
  const watch = makeLeaseWatch({ stateStore: state, clock });
  const startedMs = clock.steadyMs();
  await clock.run(watch.look());
  t.deepEqual(
    watch.live().map(({ owner }) => owner),
    ['live'],
  );
  t.is(clock.steadyMs() - startedMs, 3_000);
  // Where no record concerns the caller, one look is enough
  await watch.look(({ feeds }) => feeds.includes('view/orders@1'));
  t.is(clock.steadyMs() - startedMs, 3_000);
});
