import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../../src/kit/time/clock.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import {
  makeMembers,
  makeSoleMember,
  type Members,
} from '../../../src/event-sourcing/feeding/sharing/members.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';
import { makeVirtualClock, type VirtualClock } from '../../support/simulation/kernel/virtual-clock.js';

interface Process {
  readonly members: Members;
  /** Stops the calls of the process, as SIGKILL and SIGSTOP do. */
  freeze(): void;
  thaw(): void;
}

interface Scene {
  readonly clock: VirtualClock;
  readonly state: StateStore;
  readonly reports: unknown[];
  readonly start: (id: string, options?: { clock?: Clock; parts?: readonly string[] }) => Promise<Process>;
}

function given(t: ExecutionContext): Scene {
  const clock = makeVirtualClock();
  const state = makeMemoryStateStore({ clock });
  const reports: unknown[] = [];
  const processes: Process[] = [];
  t.teardown(async () => {
    for (const process of processes) process.thaw();
    await clock.run(Promise.all(processes.map(({ members }) => members.stop())));
    if (clock.sleepers > 0) throw new Error('something still waits after the stop');
  });
  return {
    clock,
    state,
    reports,
    start: async (id, { clock: own = clock, parts = ['view/users@1'] } = {}) => {
      let thawed = Promise.resolve();
      let thaw = (): void => undefined;
      const gated = async <Result>(call: () => Promise<Result>): Promise<Result> => {
        await thawed;
        return call();
      };
      const members = makeMembers({
        id,
        stateStore: {
          get: (key) => gated(() => state.get(key)),
          compareAndSet: (...args) => gated(() => state.compareAndSet(...args)),
          list: (...args) => gated(() => state.list(...args)),
        },
        clock: own,
        onRetry: (error) => reports.push(error),
      });
      const process: Process = {
        members,
        freeze: () => {
          thawed = new Promise((resolve) => {
            thaw = resolve;
          });
        },
        thaw: () => {
          thaw();
        },
      };
      processes.push(process);
      members.declare(parts);
      await members.start();
      return process;
    },
  };
}

function idsOf({ members }: Process): readonly string[] {
  return members
    .live()
    .map(({ id }) => id)
    .toSorted();
}

test('Processes that start together see one another within half a second', async (t) => {
  const { clock, start } = given(t);
  const processes = [await start('a'), await start('b'), await start('c')];
  await clock.advance(500);
  for (const process of processes) t.deepEqual(idsOf(process), ['a', 'b', 'c']);
  const feeders = new Set(processes.map(({ members }) => members.feederOf('view/users@1')));
  t.is(feeders.size, 1);
});

test('Two processes that start at once see each other before they feed', async (t) => {
  const { start } = given(t);
  const processes = await Promise.all([start('a'), start('b')]);
  for (const process of processes) t.deepEqual(idsOf(process), ['a', 'b']);
});

test('A process that has been live for long is seen by a new one at once, and sees it within 2 s', async (t) => {
  const { clock, start } = given(t);
  const first = await start('a');
  await clock.advance(60_000);
  const second = await start('b');
  t.deepEqual(idsOf(second), ['a', 'b']);
  await clock.advance(2_000);
  t.deepEqual(idsOf(first), ['a', 'b']);
});

test('A process whose record stands still counts as live for 6 s, and as gone 4 s later', async (t) => {
  const { clock, start } = given(t);
  const [first, second] = [await start('a'), await start('b')];
  await clock.advance(20_000);
  second.freeze();
  await clock.advance(5_900);
  t.deepEqual(idsOf(first), ['a', 'b']);
  await clock.advance(4_100);
  t.deepEqual(idsOf(first), ['a']);
  t.is(first.members.feederOf('view/users@1'), 'a');
  second.thaw();
  await clock.advance(2_100);
  t.deepEqual(idsOf(first), ['a', 'b'], 'it has come back');
});

test('A record that a crash has left counts for 2.5 s', async (t) => {
  const { clock, start } = given(t);
  const crashed = await start('crashed');
  await clock.advance(20_000);
  crashed.freeze();
  await clock.advance(1_000);
  const process = await start('a');
  t.deepEqual(idsOf(process), ['a', 'crashed']);
  await clock.advance(2_400);
  t.deepEqual(idsOf(process), ['a', 'crashed']);
  await clock.advance(100);
  t.deepEqual(idsOf(process), ['a']);
});

test('A process that stops is gone for the others within 2 s', async (t) => {
  const { clock, start, state } = given(t);
  const [first, second] = [await start('a'), await start('b')];
  await clock.advance(10_000);
  await clock.run(second.members.stop());
  t.is(await state.get('process/b'), null);
  await clock.advance(2_000);
  t.deepEqual(idsOf(first), ['a']);
});

test('A process that continues after a pause takes no other process for gone', async (t) => {
  const { clock, start } = given(t);
  const [first, second] = [await start('a'), await start('b')];
  const changes: unknown[] = [];
  first.members.onChange(() => changes.push(idsOf(first)));
  await clock.advance(20_000);
  first.freeze();
  await clock.advance(60_000);
  t.deepEqual(idsOf(second), ['b']);
  first.thaw();
  await clock.advance(6_000);
  t.deepEqual(idsOf(second), ['a', 'b']);
  t.deepEqual(changes, [['a', 'b']], 'it saw the other all the time');
});

test('A pause of all processes at once makes none take the others for gone', async (t) => {
  const { clock, start } = given(t);
  let pausedMs = 0;
  const jumping: Clock = { ...clock, now: () => new Date(clock.now().getTime() + pausedMs) };
  const processes = [await start('a', { clock: jumping }), await start('b', { clock: jumping })];
  await clock.advance(20_000);
  const changes: unknown[] = [];
  for (const { members } of processes) members.onChange(() => changes.push(members.live()));
  pausedMs = 3_600_000;
  await clock.advance(30_000);
  t.deepEqual(changes, []);
});

test('A clock that is set back neither keeps a gone process alive nor stops the renewals', async (t) => {
  const { clock, start } = given(t);
  let setBackMs = 0;
  const setBack: Clock = { ...clock, now: () => new Date(clock.now().getTime() - setBackMs) };
  const [first, second, third] = [await start('a', { clock: setBack }), await start('b'), await start('c')];
  await clock.advance(20_000);
  setBackMs = 300_000;
  third.freeze();
  await clock.advance(14_000);
  t.deepEqual(idsOf(first), ['a', 'b']);
  t.deepEqual(idsOf(second), ['a', 'b']);
});

test('Processes whose clocks differ by nine minutes agree on who is live', async (t) => {
  const { clock, start } = given(t);
  const ahead: Clock = { ...clock, now: () => new Date(clock.now().getTime() + 540_000) };
  const [first, second] = [await start('a'), await start('b', { clock: ahead })];
  await clock.advance(60_000);
  for (const process of [first, second]) t.deepEqual(idsOf(process), ['a', 'b']);
});

test('While the state store does not answer, a process keeps its last picture, and reports that once', async (t) => {
  const clock = makeVirtualClock();
  const state = makeMemoryStateStore({ clock });
  const reports: unknown[] = [];
  let away = false;
  const call = <Result>(run: () => Promise<Result>): Promise<Result> =>
    away ? Promise.reject(new StoreUnavailable('no answer')) : run();
  const members = makeMembers({
    id: 'a',
    stateStore: {
      get: (key) => call(() => state.get(key)),
      compareAndSet: (...args) => call(() => state.compareAndSet(...args)),
      list: (...args) => call(() => state.list(...args)),
    },
    clock,
    onRetry: (error) => reports.push(error),
  });
  await state.compareAndSet('process/b', null, {
    ...{ parts: ['view/users@1'], feeds: [], goal: null, lags_ms: {} },
  });
  await members.start();
  away = true;
  await clock.advance(700_000);
  t.deepEqual(
    members.live().map(({ id }) => id),
    ['a', 'b'],
  );
  t.is(reports.length, 1);
  away = false;
  await clock.advance(10_000);
  t.not(await state.get('process/a'), null, 'it writes its expired record again');
  t.deepEqual(
    members.live().map(({ id }) => id),
    ['a'],
  );
  await clock.run(members.stop());
});

test('A process goes on renewing after a write whose outcome it does not know', async (t) => {
  const clock = makeVirtualClock();
  const state = makeMemoryStateStore({ clock });
  let lost = false;
  const members = makeMembers({
    id: 'a',
    stateStore: {
      ...state,
      compareAndSet: async (...args) => {
        const version = await state.compareAndSet(...args);
        if (lost) throw new StoreUnavailable('the answer was lost');
        return version;
      },
    },
    clock,
    onRetry: () => undefined,
  });
  await members.start();
  await clock.advance(4_000);
  lost = true;
  await clock.advance(2_000);
  lost = false;
  await clock.advance(2_000);
  const before = await state.get('process/a');
  await clock.advance(4_000);
  t.not((await state.get('process/a'))?.version, before?.version);
  await clock.run(members.stop());
  t.is(await state.get('process/a'), null);
});

test('A new goal reaches the others with their next list', async (t) => {
  const { clock, start } = given(t);
  const [first, second] = [await start('a'), await start('b')];
  await clock.advance(20_000);
  first.members.awaits('0007');
  await clock.advance(2_000);
  t.is(second.members.live().find(({ id }) => id === 'a')?.goal, '0007');
});

test('A process records a new goal at once, also between two renewals', async (t) => {
  const { clock, start, state } = given(t);
  const { members } = await start('a');
  await clock.advance(10_100);
  members.awaits('0007');
  await clock.advance(0);
  t.like((await state.get('process/a'))?.value, { goal: '0007' });
});

test('The record of another release with more fields is read, and one in another format is left out', async (t) => {
  const { clock, start, state } = given(t);
  const later = { parts: ['view/users@2'], feeds: [], goal: null, lags_ms: {}, colour: 'red' };
  await state.compareAndSet('process/later', null, later);
  await state.compareAndSet('process/odd', null, 'odd');
  const process = await start('a');
  t.deepEqual(idsOf(process), ['a', 'later']);
  t.is(process.members.feederOf('view/users@2'), 'later');
  await clock.advance(0);
});

test('A record expires ten minutes after its last renewal', async (t) => {
  const { clock, start, state } = given(t);
  const process = await start('a');
  await clock.advance(20_000);
  process.freeze();
  await clock.advance(590_000);
  t.not(await state.get('process/a'), null);
  await clock.advance(12_000);
  t.is(await state.get('process/a'), null);
});

test('A sole member feeds everything that it declares, and writes no record', async (t) => {
  const members = makeSoleMember('a');
  members.declare(['view/users@1']);
  await members.start();
  t.is(members.feederOf('view/users@1'), 'a');
  t.is(members.live().length, 1);
  await members.stop();
});
