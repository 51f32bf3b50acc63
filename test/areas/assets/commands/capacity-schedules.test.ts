import test from 'ava';
import { type Capacity, makeCapacity } from '../../../../src/areas/assets/commands/capacity.js';
import type { AssetDeps } from '../../../../src/areas/assets/deps.js';
import type { AssetState } from '../../../../src/areas/assets/domain/asset/asset.js';
import { addingOf, removingOf } from '../../../../src/areas/assets/domain/asset/status.js';
import { CommandRejected, StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { makeGenerations } from '../../../../src/event-sourcing/views/generations/generations.js';
import { nextWrite } from '../../../../src/event-sourcing/views/pending-totals.js';
import {
  bytesOf,
  type PlacedChange,
  totalOf,
  totalWith,
} from '../../../../src/event-sourcing/views/total.js';
import { makeTotals } from '../../../../src/event-sourcing/views/totals.js';
import { usageTally } from '../../../../projections/assets/usage/projection.js';
import { makeSeededRandom, makeTestClock } from '../../../support/fakes/clock.js';
import { makeMemoryReadModelStore } from '../../../support/fakes/memory-read-model-store.js';
import { partial } from '../../../support/fakes/partial.js';
import { userId } from '../../../support/examples/ids.js';
import { memberId as idOf } from '../../../support/examples/project.js';

const collection = `usage@${usageTally.version}.1`;
const projectId = idOf(9_999);
const capacityBytes = 4;
const processes = 2;
const schedules = 50;
const stepsOfSchedule = 40;

/**
 * Simulates processes that add and remove assets of one project, each of 1 byte, beside a follower that counts the events
 * late. Two requests may carry the same command, and two removals the same asset. With `crashes`, commands end between any
 * two steps.
 */
async function givenWorld(seed: number, { crashes }: { readonly crashes: boolean }) {
  const random = makeSeededRandom(seed);
  const clock = makeTestClock();
  const documents = makeMemoryReadModelStore();
  const log: PlacedChange[] = [];
  const states = new Map<string, 'existing' | 'removed'>();
  const problems: string[] = [];
  let counted = 0;
  let named = 0;
  let isCalm = false;
  let filled = false;

  const pause = async (): Promise<void> => {
    const turnsMax = random() < 0.2 ? 30 : 4;
    for (let turns = Math.floor(random() * turnsMax); turns > 0 && !isCalm; turns -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const slow: ReadModelStore = {
    ...documents,
    get: async (...args) => {
      await pause();
      return documents.get(...args);
    },
    write: async (...args) => {
      await pause();
      return documents.write(...args);
    },
  };
  const generations = makeGenerations({
    ...{ projections: [usageTally], readModelStore: documents },
    clock: { ...clock, now: () => new Date(0), steadyMs: () => 0 },
  });
  await generations.start();
  const stateOf = (assetId: string): AssetState =>
    partial<AssetState>({ status: states.get(assetId) ?? 'absent' });
  let drawn = 0;
  const capacities = Array.from({ length: processes }, () => {
    const totals = makeTotals({ generations, readModelStore: slow }, usageTally);
    return makeCapacity({
      usage: partial<AssetDeps['usage']>({
        announce: (...change) => totals.announce(...change),
        totalsOf: (ids) => totals.getMany(ids),
        accountOf: async () => ({ capacity: capacityBytes, totals: await totals.getMany([projectId]) }),
      }),
      handler: partial<AssetDeps['handler']>({
        load: (async (_: unknown, assetId: string) => {
          await pause();
          return { state: stateOf(assetId) };
        }) as unknown as AssetDeps['handler']['load'],
      }),
      clock,
      randomBytes: (size) => Buffer.alloc(size, (drawn += 1)),
      onFailure: (_, error) => {
        throw error;
      },
    });
  });
  const someone = (): Capacity => capacities[Math.floor(random() * processes)] as Capacity;
  const live = (): readonly string[] =>
    [...states].filter(([, state]) => state === 'existing').map(([id]) => id);
  const shown = async (): Promise<number> =>
    Number(bytesOf(totalOf(await documents.get(collection, projectId)), () => true));

  /** Appends to the log, where the command does not crash before. */
  async function append(assetId: string, to: 'existing' | 'removed'): Promise<void> {
    await pause();
    if (crashes && !isCalm && random() < 0.2) throw new StoreUnavailable('the process has ended');
    const from = states.get(assetId);
    if (to === 'removed' && from !== 'existing') throw new CommandRejected('asset_not_found', 'no asset');
    if (to === 'existing' && from !== undefined) return;
    states.set(assetId, to);
    const [entry, bytes] = to === 'existing' ? [addingOf(assetId), 1] : [removingOf(assetId), -1];
    const position = String(log.length + 1).padStart(6, '0');
    log.push({ total: projectId, entry, bytes, position, recordedAt: clock.now() });
    if (live().length > capacityBytes) problems.push(`${live().length} assets`);
    filled ||= live().length === capacityBytes;
    await pause();
  }

  const add = (assetId: string) =>
    someone().adding({ payerId: userId, projectId, assetId, bytes: 1 }, () => append(assetId, 'existing'));
  const remove = async (assetId: string): Promise<void> => {
    // As the command does: it reads the asset before it announces.
    const read = stateOf(assetId).status;
    await pause();
    if (read !== 'existing') return;
    await someone().removing({ projectId, assetId, bytes: 1 }, () => append(assetId, 'removed'));
  };

  async function count(upTo: number): Promise<void> {
    const page = log.slice(counted, upTo);
    counted = Math.max(counted, Math.min(upTo, log.length));
    for (let isWritten = page.length === 0; !isWritten;) {
      const stored = await documents.get(collection, projectId);
      const next = totalWith(totalOf(stored), page);
      if (next === null) return;
      const [outcome] = await documents.write(collection, [nextWrite(projectId, stored, next)]);
      isWritten = outcome === 'applied';
    }
  }

  async function check(step: string): Promise<void> {
    const used = live().length;
    const found = await shown();
    // Nothing that is stored may look free.
    if (found < used && used === live().length) problems.push(`${step}: ${found} of ${used} bytes are shown`);
  }

  return {
    problems,
    async run(): Promise<void> {
      const commands: Promise<unknown>[] = [];
      const begin = (work: Promise<unknown>): void => {
        commands.push(
          work.catch((error: unknown) => {
            if (!(error instanceof CommandRejected || error instanceof StoreUnavailable)) throw error;
          }),
        );
      };
      for (let step = 0; step < stepsOfSchedule; step += 1) {
        const [choice, assetId] = [random(), idOf((named += 1))];
        const [some] = live();
        if (choice < 0.4) begin(add(assetId));
        if (choice < 0.15) begin(add(assetId));
        if (choice >= 0.4 && choice < 0.65 && some !== undefined) begin(remove(some));
        if (choice >= 0.4 && choice < 0.55 && some !== undefined) begin(remove(some));
        if (choice >= 0.65) await count(counted + 1);
        await pause();
        await check(`step ${step}`);
      }
      await Promise.all(commands);
      await count(log.length);
      await check('end');
    },
    /** The entries that no command owns any more. */
    left: async () => totalOf(await documents.get(collection, projectId)).pending,
    shown,
    live: () => live().length,
    wasFull: () => filled,
    /** Calms the faults, lets a minute pass, and adds up to the limit. */
    async fillUp(): Promise<number> {
      isCalm = true;
      clock.advance(60_000);
      for (;;) {
        try {
          await add(idOf((named += 1)));
        } catch (error) {
          if (!(error instanceof CommandRejected)) throw error;
          return live().length;
        }
        await count(log.length);
      }
    },
  };
}

test('Announced changes are counted once in every race of repeated additions and double removals, and none is left', async (t) => {
  let full = 0;
  for (let seed = 1; seed <= schedules; seed += 1) {
    const world = await givenWorld(seed, { crashes: false });
    await world.run();
    t.deepEqual(world.problems, [], `schedule ${seed}`);
    t.deepEqual(await world.left(), [], `schedule ${seed}`);
    t.is(await world.shown(), world.live(), `schedule ${seed}`);
    if (world.wasFull()) full += 1;
  }
  // Schedules that never reach the capacity would prove little.
  t.true(full > schedules / 4, `${full} schedules reached the capacity`);
});

test('Commands that crash between announcement and append never exceed the capacity, and cost none of it for good', async (t) => {
  for (let seed = 1; seed <= schedules; seed += 1) {
    const world = await givenWorld(1_000 + seed, { crashes: true });
    await world.run();
    t.deepEqual(world.problems, [], `schedule ${seed}`);
    t.is(await world.fillUp(), capacityBytes, `schedule ${seed}`);
  }
});
