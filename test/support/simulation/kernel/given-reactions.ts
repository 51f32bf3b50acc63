import type { CommandHandler } from '../../../../src/event-sourcing/deciding/command-handler.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import {
  type ReactionRunner,
  startReactions,
} from '../../../../src/event-sourcing/effects/reaction-runner.js';
import type { ReactionDeps } from '../../../../src/event-sourcing/effects/run-reaction.js';
import { makeSoleLease } from '../../../../src/event-sourcing/feeding/consumers/lease.js';
import { contextOf } from './given-process.js';
import { parcelAggregate, type ParcelAsked, makeSendParcels } from './parcels.js';
import { givenWorld, handlerWithoutViews, type World } from '../../given/given-world.js';

export interface ReactionScene extends World {
  readonly handler: CommandHandler;
  /** The effects that left the process, by the id of their event. */
  readonly sent: { readonly id: string; readonly n: number; readonly atMs: number }[];
  /** The reports of the reactions, as sentences. */
  readonly reports: string[];
  /** Requests parcel `n` of the stream `p1` (or another), optionally with a deadline. */
  readonly ask: (
    n: number,
    options?: { readonly withinMs?: number; readonly stream?: string },
  ) => Promise<void>;
  /** Returns the numbers of the parcels that are marked as sent, in log order. */
  readonly marked: () => Promise<readonly number[]>;
  /** Starts a process with the reactions. By default it has the one that sends. */
  readonly start: (options?: {
    readonly holder?: string;
    readonly send?: (event: ParcelAsked, signal: AbortSignal) => Promise<void>;
    readonly reactions?: readonly AnyReaction[];
    readonly deps?: Partial<ReactionDeps>;
  }) => ReactionRunner;
}

/** Given stores in memory, and processes that react to the events in them. */
export function givenReactions(): ReactionScene {
  const world = givenWorld();
  const { clock, eventStore } = world;
  const handler = handlerWithoutViews(world);
  const sent: { id: string; n: number; atMs: number }[] = [];
  const reports: string[] = [];
  let commands = 0;

  return {
    ...world,
    ...{ handler, sent, reports },
    ask: async (n, { withinMs, stream = 'p1' } = {}) => {
      const expiresAt = withinMs === undefined ? null : new Date(clock.now().getTime() + withinMs);
      const target = { aggregate: parcelAggregate, id: stream };
      await handler.handle(target, { type: 'Ask', n, expiresAt }, contextOf((commands += 1), clock.now()));
    },
    marked: async () => {
      const { events } = await eventStore.readAll({ after: null, limit: 1_000_000 });
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
        { ...world, holder, lease: makeSoleLease(holder), ...deps },
        reactions ?? [makeSendParcels({ handler, send: sendOne })],
        {
          onRetry: (reaction, error, failures) => {
            reports.push(`retry ${reaction} ${failures}: ${error.message}`);
          },
          onSetApart: (reaction, { event, reason }) => {
            reports.push(`set apart ${reaction} ${event?.stream}@${event?.revision}: ${reason}`);
          },
          onStopped: (reaction, error) => {
            reports.push(`stopped ${reaction}: ${String(error)}`);
          },
        },
      );
    },
  };
}
