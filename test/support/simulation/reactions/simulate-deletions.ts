import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import type { LogEvent, Position } from '../../../../src/event-sourcing/ports/domain-event.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { rejectProject } from '../../../../src/areas/projects/domain/project/rejections.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import {
  makeDeleteLateStorages,
  makeDeleteProjectStorages,
  makeDeleting,
  makeEraseStorageCredentials,
} from '../../../../src/areas/storages/commands/deleting.js';
import { makeShareEndings } from '../../../../src/areas/shares/commands/ending.js';
import { makeSeededRandom } from '../../fakes/clock.js';
import { userId } from '../../examples/ids.js';
import { capacityGranted, userRegistered } from '../../examples/user.js';
import { appendEvents } from '../../given/append-events.js';
import { givenCommands } from '../../given/given-commands.js';
import { givenContext, givenStores, type GivenStores } from '../../given/given-stores.js';
import { idOf, makeDoings, textIn, deletionProblem } from './deletion-world.js';
import { makeOwedTurns } from './owed-turns.js';
import { partial } from '../../fakes/partial.js';

/** The result of a history. A history in which an event never happens proves nothing about it. */
export interface Told {
  /** The problem, or null. */
  readonly problem: string | null;
  /** The number of storages and shares that were created after the deletion of their project. */
  readonly late: number;
  readonly deleted: number;
  readonly crashes: number;
}

/** Stops the process. The next one repeats its work. */
class Crash extends Error {}

const steps = 40;

/**
 * Two processes create, change and delete projects, storages, assets and shares, at times one while the other is about
 * to append. Reactions run late in either process, crash before and after they append, and lose their checkpoints. Their
 * views lag. At the end no reaction is due, and the invariants are checked.
 */
export async function simulateDeletions(seed: number): Promise<Told> {
  const random = makeSeededRandom(seed);
  const chance = (probability: number): boolean => random() < probability;
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  let [crashing, crashes, commands] = [false, 0, 0];
  /** 0: the first process runs. 1: the second runs, while the first is about to append. */
  let depth = 1;
  const stores = await givenStores({ wrap: withMeanwhile });
  const { eventStore, clock } = stores;
  const processes = [startProcess(stores), startProcess(stores.anotherProcess())] as const;
  const turns = makeOwedTurns(eventStore, () => here().reactions);
  const showMore = () => turns.showMore(pick);

  const people = makeDoings({ here: () => here().world, next, some });
  const { createStorage, createShare, removeAsset, deleteProject } = people;
  const doings = [
    ...[...Object.values(people), createStorage, createShare, createShare],
    ...[endAndServe, endAndServe, endAndServe, react, react, react, showMore],
  ].flatMap((doing) => Array<typeof doing>(1 + Math.floor(random() ** 2 * 4)).fill(doing));
  if (chance(0.3)) doings.push(turns.loseCheckpoint);
  const payer = { aggregate: userAggregate, id: userId };
  await appendEvents(stores.handler, payer, [userRegistered, capacityGranted], clock.now());
  await people.begin();
  depth = 0;
  for (let n = 0; n < steps; n += 1) await step();
  depth = 1;
  await turns.settle();
  const log = await turns.wholeLog();
  const problem = await deletionProblem(log, stores.anotherProcess());
  const deleted = log.filter(({ type }) => type === 'ProjectDeleted').length;
  return { problem, late: lateIn(log), deleted, crashes };

  function startProcess(seenBy: GivenStores) {
    const { handler } = seenBy;
    const world = givenCommands(seenBy);
    const sharesShown = (position: Position): boolean => turns.shows(position);
    const { deleteOrphanedStorages } = makeDeleting({
      ...{ ...seenBy, handler, hasAssets: () => Promise.resolve(false) },
      storages: partial({
        ids: async (projectId, { after = '' }) => {
          const isOfProject = ({ data }: LogEvent): boolean => data['project_id'] === projectId;
          const ids = await shownIds('StorageCreated', 'StorageDeleted', isOfProject);
          return ids.filter((id) => id > after);
        },
      }),
    });
    const shareEndings = makeShareEndings({
      ...world,
      ...{ handler, sharesShown },
      shares: partial({
        ids: async (of, { after = '' }) => {
          const matches = ({ data }: LogEvent): boolean =>
            'projectId' in of
              ? data['project_id'] === of.projectId
              : (data['asset_ids'] as string[]).includes(of.assetId);
          return (await shownIds('ShareCreated', 'ShareRevoked', matches)).filter((id) => id > after);
        },
      }),
    });
    const reactions: readonly AnyReaction[] = [
      makeDeleteProjectStorages({ deleteOrphanedStorages, storagesShown: sharesShown }),
      makeDeleteLateStorages({ deleteOrphanedStorages }),
      ...Object.values(shareEndings),
      makeEraseStorageCredentials(world),
    ];
    return { world, reactions };
  }

  function next(): CommandContext {
    commands += 1;
    clock.advance(1_000);
    return givenContext(commands, clock.now(), `user:${userId}`);
  }

  /** Returns the running process. */
  function here() {
    return processes[depth === 0 ? 0 : 1];
  }

  async function step(doing = pick(doings)): Promise<void> {
    crashing = chance(0.1);
    try {
      await doing?.();
    } catch (error) {
      if (error instanceof Crash) crashes += 1;
      // A refused caller tries something else.
      else if (!(error instanceof CommandRejected)) throw error;
    } finally {
      crashing = false;
    }
  }

  /** Deletes something, and runs its reactions at once where the views have come so far. */
  async function endAndServe(): Promise<void> {
    await (chance(0.4) ? deleteProject() : removeAsset());
    if (chance(0.5)) await turns.showAll();
    await turns.serveAll();
  }

  /** Runs one turn of a due reaction. */
  async function react(): Promise<void> {
    await turns.takeNew();
    const one = pick(turns.owed());
    if (one !== undefined) await turns.turn(one);
  }

  /** Returns the ids in the lagging view, in order. */
  async function shownIds(
    begin: string,
    end: string,
    matches: (created: LogEvent) => boolean,
  ): Promise<readonly string[]> {
    const shown = await turns.shown();
    const ended = new Set(shown.filter(({ type }) => type === end).map(({ stream }) => stream));
    return shown
      .filter(({ type, stream }) => type === begin && !ended.has(stream))
      .filter(matches)
      .map(idOf)
      .sort();
  }

  /** Returns one of the created resources, mostly the newest, so that concurrent calls meet there. */
  async function some(type: string): Promise<LogEvent> {
    const created = (await turns.wholeLog()).filter((event) => event.type === type);
    const one = chance(0.7) ? created.at(-1) : pick(created);
    return one ?? rejectProject('project_not_found', 'there is none yet');
  }

  /** Lets the other process run before an append, and stops this one before or after it at times. */
  function withMeanwhile(store: EventStore): EventStore {
    return {
      ...store,
      append: async (stream, expected, events, options) => {
        const stops = crashing;
        if (depth === 0 && chance(0.4)) {
          depth = 1;
          for (let n = Math.floor(random() * 4); n > 0; n -= 1) await step();
          if (chance(0.3)) await step(endAndServe);
          depth = 0;
        }
        if (!stops) return store.append(stream, expected, events, options);
        if (chance(0.5)) await store.append(stream, expected, events, options);
        throw new Crash('the process stopped');
      },
    };
  }
}

function lateIn(log: readonly LogEvent[]): number {
  const deleted = new Set<string>();
  let late = 0;
  for (const event of log) {
    if (event.type === 'ProjectDeleted') deleted.add(idOf(event));
    const isCreated = event.type === 'StorageCreated' || event.type === 'ShareCreated';
    if (isCreated && deleted.has(textIn(event, 'project_id'))) late += 1;
  }
  return late;
}
