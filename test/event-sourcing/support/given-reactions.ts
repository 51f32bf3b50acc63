import type { CommandHandler } from '../../../src/event-sourcing/command-handler.js';
import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import { makeCommandHandler } from '../../../src/event-sourcing/make-command-handler.js';
import type { AnyReaction } from '../../../src/event-sourcing/reaction.js';
import { type ReactionRunner, startReactions } from '../../../src/event-sourcing/reaction-runner.js';
import type { ReadModelStore } from '../../../src/event-sourcing/read-model-store.js';
import type { ReactionDeps } from '../../../src/event-sourcing/run-reaction.js';
import type { StateStore } from '../../../src/event-sourcing/state-store.js';
import { makeSeededRandom } from '../../support/clock.js';
import { makeMemoryEventStore, type MemoryEventStore } from '../../support/memory-event-store.js';
import { makeMemoryReadModelStore } from '../../support/memory-read-model-store.js';
import { makeMemoryStateStore } from '../../support/memory-state-store.js';
import { contextOf } from './given-process.js';
import { parcelAggregate, type ParcelAsked, makeSendParcels } from './parcels.js';
import { makeVirtualClock, type VirtualClock } from './virtual-clock.js';

export interface ReactionScene {
  readonly clock: VirtualClock;
  readonly log: MemoryEventStore;
  readonly readModels: ReadModelStore;
  readonly state: StateStore;
  readonly handler: CommandHandler;
  /** What left the process, by the id of the event that asked for it. */
  readonly sent: { readonly id: string; readonly n: number; readonly atMs: number }[];
  /** What the reactions reported, as sentences. */
  readonly reports: string[];
  /** Asks for parcel `n` of the stream `p1` (or another), to be sent within the time (or whenever). */
  readonly ask: (
    n: number,
    options?: { readonly withinMs?: number; readonly stream?: string },
  ) => Promise<void>;
  /** The numbers of those that are marked as sent, in the order of the log. */
  readonly marked: () => Promise<readonly number[]>;
  /** Starts a process with the reactions; without any, with the one that sends. */
  readonly start: (options?: {
    readonly holder?: string;
    readonly send?: (event: ParcelAsked, signal: AbortSignal) => Promise<void>;
    readonly reactions?: readonly AnyReaction[];
    readonly deps?: Partial<ReactionDeps>;
  }) => ReactionRunner;
}

/** Stores in memory, and processes that react to what is asked for in them. */
export function givenReactions(): ReactionScene {
  const clock = makeVirtualClock();
  const random = makeSeededRandom(1);
  const log = makeMemoryEventStore({ clock, random });
  const readModels = makeMemoryReadModelStore();
  const state = makeMemoryStateStore({ clock });
  const handler = makeHandler(log);
  const sent: { id: string; n: number; atMs: number }[] = [];
  const reports: string[] = [];
  let commands = 0;

  return {
    clock,
    log,
    readModels,
    state,
    handler,
    sent,
    reports,
    ask: async (n, { withinMs, stream = 'p1' } = {}) => {
      const expiresAt = withinMs === undefined ? null : new Date(clock.now().getTime() + withinMs);
      const target = { aggregate: parcelAggregate, id: stream };
      await handler.handle(target, { type: 'Ask', n, expiresAt }, contextOf((commands += 1), clock.now()));
    },
    marked: async () => {
      const { events } = await log.readAll({ after: null, limit: 1_000_000 });
      return events
        .filter(({ type }) => type === 'ParcelSent')
        .map((event) => parcelAggregate.codec.decode(event).data.n);
    },
    start: ({ holder = 'process 1', send, reactions, deps = {} } = {}) => {
      const sendOne = async (event: ParcelAsked, signal: AbortSignal): Promise<void> => {
        await send?.(event, signal);
        sent.push({ id: event.id, n: event.data.n, atMs: clock.now().getTime() });
      };
      return startReactions(
        {
          eventStore: log,
          readModelStore: readModels,
          stateStore: state,
          clock,
          random,
          holder,
          ...deps,
        },
        reactions ?? [makeSendParcels({ handler, send: sendOne })],
        {
          onRetry: (reaction, error, failures) => {
            reports.push(`retry ${reaction} ${failures}: ${error.message}`);
          },
          onStopped: (reaction, error) => {
            reports.push(`stopped ${reaction}: ${String(error)}`);
          },
        },
      );
    },
  };

  function makeHandler(eventStore: EventStore): CommandHandler {
    const documentWriter = { viewsOf: () => [], write: () => Promise.resolve() };
    return makeCommandHandler({ eventStore, documentWriter, clock, random });
  }
}
