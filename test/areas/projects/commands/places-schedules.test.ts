import test from 'ava';
import { makePlaces, type Places } from '../../../../src/areas/shared/places.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../../src/event-sourcing/ports/state-store.js';
import { makeSeededRandom, makeTestClock } from '../../../support/fakes/clock.js';
import { userId } from '../../../support/examples/ids.js';
import { memberId as idOf } from '../../../support/examples/project.js';
import { makeMemoryStateStore } from '../../../support/fakes/memory-state-store.js';

const max = 4;
const processes = 3;
const schedules = 150;
const stepsOfSchedule = 60;

/**
 * The time that a command has for its append after it took a place, and the time limit of a write to the state store
 * (src/event-sourcing/deciding/README.md#command-queue-and-retries). Both in milliseconds.
 */
const appendMs = 15_000;
const writeMs = 5_000;

/**
 * Simulates processes that make and end things of one owner. The state store is slow, loses answers and fails, and
 * the view lags behind the log. Commands crash between any two steps, and some are repeated later with the same id.
 */
function givenWorld(seed: number) {
  const random = makeSeededRandom(seed);
  const clock = makeTestClock();
  const store = makeMemoryStateStore({ clock });
  const log = new Map<string, 'there' | 'ended'>();
  const view = new Set<string>();
  const crashed: string[] = [];
  let unseen: string[] = [];
  let named = 0;
  let most = 0;
  let isCalm = false;

  const chance = (share: number): boolean => !isCalm && random() < share;
  const pause = async (): Promise<void> => {
    const turnsMax = random() < 0.1 ? 40 : 4;
    for (let turns = Math.floor(random() * turnsMax); turns > 0 && !isCalm; turns -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const faulty: StateStore = {
    ...store,
    get: async (key) => {
      await pause();
      if (chance(0.03)) throw new StoreUnavailable('it was away');
      return store.get(key);
    },
    compareAndSet: async (...args) => {
      const startedMs = clock.now().getTime();
      if (chance(0.05)) throw new OutcomeUnknown('it never arrived');
      await pause();
      if (clock.now().getTime() - startedMs > writeMs) throw new OutcomeUnknown('it took too long');
      const version = await store.compareAndSet(...args);
      await pause();
      if (chance(0.05)) throw new OutcomeUnknown('the answer was lost');
      return version;
    },
  };
  const places = Array.from({ length: processes }, () =>
    makePlaces({
      stateStore: faulty,
      clock,
      name: 'places/things',
      max,
      inView: async (_, limit) => {
        await pause();
        return [...view].slice(0, limit);
      },
      inLog: async (id) => {
        await pause();
        const found = log.get(id);
        if (found === undefined) return 'absent';
        return found === 'there' ? 'holds-a-place' : 'holds-none';
      },
      refuse: () => {
        throw new Error('full');
      },
    }),
  );
  // Some processes know that the owner is new. Commands of all of them race.
  for (const process of places) if (random() < 0.5) process.noteNew(userId, clock.now());
  const there = (): string[] => [...log].filter(([, found]) => found === 'there').map(([id]) => id);

  async function make(by: Places | undefined, id: string): Promise<'made' | 'refused' | 'crashed'> {
    try {
      await pause();
      await by?.take(userId, id);
    } catch (error) {
      return error instanceof Error && error.message === 'full' ? 'refused' : 'crashed';
    }
    const takenMs = clock.now().getTime();
    await pause();
    if (chance(0.2) || clock.now().getTime() - takenMs > appendMs) {
      crashed.push(id);
      return 'crashed';
    }
    if (!log.has(id)) log.set(id, 'there');
    unseen.push(id);
    most = Math.max(most, there().length);
    return 'made';
  }

  function end(): void {
    const [id] = there();
    if (id === undefined) return;
    log.set(id, 'ended');
    unseen.push(id);
  }

  function catchUp(count: number): void {
    for (const id of unseen.slice(0, count)) {
      if (log.get(id) === 'there') view.add(id);
      else view.delete(id);
    }
    unseen = unseen.slice(count);
  }

  const nextId = (): string => idOf((named += 1));
  const someone = (): Places | undefined => places[Math.floor(random() * processes)];

  return {
    async run(): Promise<void> {
      const commands: Promise<unknown>[] = [];
      for (let step = 0; step < stepsOfSchedule; step += 1) {
        const drawn = random();
        if (drawn < 0.55) commands.push(make(someone(), (random() < 0.25 && crashed.pop()) || nextId()));
        else if (drawn < 0.65) end();
        else if (drawn < 0.85) catchUp(1);
        else clock.advance(Math.floor(random() * 9_000));
        await pause();
      }
      await Promise.all(commands);
    },
    /** Calms the faults and waits a minute, then makes things one after the other up to the limit. */
    async fillUp(): Promise<number> {
      isCalm = true;
      clock.advance(60_000);
      catchUp(unseen.length);
      let made = there().length;
      while ((await make(someone(), nextId())) === 'made') made += 1;
      return made;
    },
    mostAtOnce: () => most,
  };
}

test(`An owner never has more than ${max} things in any race, crash or lag, and no place is lost for good`, async (t) => {
  let full = 0;
  for (let seed = 1; seed <= schedules; seed += 1) {
    const world = givenWorld(seed);
    await world.run();
    const most = world.mostAtOnce();
    if (most > max) t.fail(`schedule ${seed} made ${most} things`);
    if (most === max) full += 1;
    const made = await world.fillUp();
    if (made !== max) t.fail(`schedule ${seed} ended with ${made} things at most`);
  }
  // Schedules that never reach the limit would prove nothing.
  t.true(full > schedules / 2, `${full} schedules reached the bound`);
});
