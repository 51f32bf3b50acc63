import { z } from 'zod';
import type { Aggregate, CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';
import { type EventOf, makeEventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import type { AnyReaction, Reaction, ReactionEvent } from '../../../src/event-sourcing/effects/reaction.js';
import { counterAggregate, contextOf } from './counters.js';
import { type ReactionRunner, startReactions } from '../../../src/event-sourcing/effects/reaction-runner.js';
import type { ReactionDeps } from '../../../src/event-sourcing/effects/run-reaction.js';
import { makeSoleLease } from '../../../src/event-sourcing/feeding/consumers/lease.js';
import { givenWorld, handlerWithoutViews, type World, sendToCounter } from './world.js';
import type { ReactingProcess } from './processes.js';

/**
 * A small example for the tests of reactions: parcels that are requested, sent by an outside effect, and counted by a
 * command.
 */
const schemas = {
  ParcelAsked: z.strictObject({ n: z.int(), expires_at: z.iso.datetime().nullable() }),
  ParcelSent: z.strictObject({ n: z.int() }),
  ParcelWithdrawn: z.strictObject({ n: z.int() }),
};

type ParcelEvent = EventOf<typeof schemas>;
type EventOfType<Type extends ParcelEvent['type']> = Extract<ParcelEvent, { type: Type }>;
export type ParcelAsked = ReactionEvent<EventOfType<'ParcelAsked'>>;
type ParcelState = ReadonlyMap<number, 'asked' | 'sent' | 'withdrawn'>;
type ParcelCommand =
  | { readonly type: 'Ask'; readonly n: number; readonly expiresAt: Date | null }
  | { readonly type: 'MarkSent' | 'Withdraw'; readonly n: number };

export const parcelAggregate: Aggregate<ParcelState, ParcelCommand, ParcelEvent> = {
  category: 'parcel',
  codec: makeEventCodec(schemas),
  decider: {
    initialState: new Map(),
    decide: (command, state) => {
      const { n } = command;
      switch (command.type) {
        case 'Ask':
          if (state.has(n)) return [];
          return [{ type: 'ParcelAsked', data: { n, expires_at: command.expiresAt?.toISOString() ?? null } }];
        case 'MarkSent':
          return state.get(n) === 'asked' ? [{ type: 'ParcelSent', data: { n } }] : [];
        case 'Withdraw':
          return state.get(n) === 'asked' ? [{ type: 'ParcelWithdrawn', data: { n } }] : [];
      }
    },
    evolve: (state, { type, data }) => {
      const status = { ParcelAsked: 'asked', ParcelSent: 'sent', ParcelWithdrawn: 'withdrawn' } as const;
      return new Map(state).set(data.n, status[type]);
    },
  },
};

/** Sends the requested parcels: an outside effect under a claim. */
export function makeSendParcels(deps: {
  readonly handler: CommandHandler;
  readonly send: (event: ParcelAsked, signal: AbortSignal) => Promise<void>;
  /** Called each time the reaction reads an event. */
  readonly onAsked?: (event: ParcelAsked) => void;
}): AnyReaction {
  const { handler, send, onAsked } = deps;
  const reaction: Reaction<EventOfType<'ParcelAsked'>> = {
    name: 'send-parcels',
    category: parcelAggregate.category,
    codec: parcelAggregate.codec,
    types: ['ParcelAsked'],
    deadline: ({ data }) => (data.expires_at === null ? null : new Date(data.expires_at)),
    asks: async (event) => {
      onAsked?.(event);
      const { state } = await handler.load(parcelAggregate, parcelOf(event.stream));
      return state.get(event.data.n) === 'asked' ? 'yes' : 'no';
    },
    perform: async (event, signal) => {
      await send(event, signal);
      return undefined;
    },
    conclude: async ({ stream, data }, context) => {
      const target = { aggregate: parcelAggregate, id: parcelOf(stream) };
      await handler.handle(target, { type: 'MarkSent', n: data.n }, context);
    },
  };
  return reaction;
}

/** Counts the sent parcels by a command only. The counter `sent` must be open. */
export function makeCountParcels({ handler }: { readonly handler: CommandHandler }): AnyReaction {
  const reaction: Reaction<EventOfType<'ParcelSent'>> = {
    name: 'count-parcels',
    category: parcelAggregate.category,
    codec: parcelAggregate.codec,
    types: ['ParcelSent'],
    asks: async (event) => {
      const { state } = await handler.load(counterAggregate, 'sent');
      return state.operations.has(event.id) ? 'no' : 'yes';
    },
    conclude: async (event, context) => {
      const target = { aggregate: counterAggregate, id: 'sent' };
      await handler.handle(target, { type: 'Add', operation: event.id, amounts: [1] }, context);
    },
  };
  return reaction;
}

function parcelOf(stream: string): string {
  return stream.slice(parcelAggregate.category.length + 1);
}

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
          onQuarantined: (reaction, { event, reason }) => {
            reports.push(`quarantined ${reaction} ${event?.stream}@${event?.revision}: ${reason}`);
          },
          onStopped: (reaction, error) => reports.push(`stopped ${reaction}: ${String(error)}`),
        },
      );
    },
  };
}

/** The longest way of an effect, and of its answer. In milliseconds. */
const effectMs = 1_000;
/** When a process that nothing disturbs has recorded the outcome, with room for the delays of the stores. */
const concludedMs = 3_000;

/** An outside effect. `happened` is true once it has left the process. */
interface Effect {
  readonly eventId: string;
  readonly process: string;
  readonly fromMs: number;
  happened: boolean;
}

/** The reactions that simulated processes share, and a watch on their effects. */
interface SharedParcels {
  /** Returns the reaction with an outside effect, and the one that only sends a command. */
  readonly reactionsOf: (process: ReactingProcess) => readonly AnyReaction[];
  /** Requests one more parcel. */
  ask(): Promise<void>;
  /** Tells the watch that a process was killed or frozen just now. */
  disturbed(process: { readonly id: string }): void;
  /** Returns the first request without exactly one outcome, or an effect that was repeated without a cause; else null. */
  findProblem(): Promise<string | null>;
  /** The effects that have left a process, and how many of them were repetitions. */
  sum(): { readonly effects: number; readonly repeated: number };
}

/** Makes the reactions that simulated processes share, and watches their effects. */
export async function shareParcels(world: World): Promise<SharedParcels> {
  const { clock, random } = world;
  const effects: Effect[] = [];
  const disturbances: { readonly process: string; readonly atMs: number }[] = [];
  const handler = handlerWithoutViews(world);
  const nowMs = (): number => clock.now().getTime();
  let asked = 0;
  await sendToCounter(handler, 'sent', { type: 'Open', label: 'sent' }, 1);

  return {
    reactionsOf: ({ id, eventStore, gate }) => {
      const own = handlerWithoutViews({ clock, random, eventStore });
      const send = makeSendParcels({
        handler: own,
        send: async (event, signal) => {
          const effect = { eventId: event.id, process: id, fromMs: nowMs(), happened: false };
          effects.push(effect);
          await passes(random() * effectMs, signal, gate);
          effect.happened = true;
          // The answer is on its way.
          await passes(random() * effectMs, signal, gate);
        },
      });
      return [send, makeCountParcels({ handler: own })];
    },
    ask: async () => {
      asked += 1;
      const target = { aggregate: parcelAggregate, id: `p${Math.floor(random() * 5)}` };
      await handler.handle(
        target,
        { type: 'Ask', n: asked, expiresAt: null },
        contextOf(asked + 1, clock.now()),
      );
    },
    disturbed: ({ id }) => disturbances.push({ process: id, atMs: nowMs() }),
    findProblem: async () => {
      const { events } = await world.eventStore.readAll({ after: null, limit: 1_000_000 });
      const sent = events.filter(({ type }) => type === 'ParcelSent');
      const requests = events.filter(({ type }) => type === 'ParcelAsked');
      if (requests.length !== asked) return `${requests.length} of ${asked} parcels are requested`;
      for (const { id, stream } of requests) {
        const outcomes = sent.filter(({ metadata }) => metadata.causation_id === id).length;
        if (outcomes !== 1) return `${id} in ${stream} has ${outcomes} outcomes`;
        const own = effects.filter(({ eventId }) => eventId === id);
        if (!own.some(({ happened }) => happened)) return `${id} has an outcome without an effect`;
        const repeated = own.slice(0, -1).find((effect) => effect.happened && !isDisturbed(effect));
        if (repeated !== undefined) return `the effect of ${id} was repeated without a cause`;
      }
      const { total } = (await handler.load(counterAggregate, 'sent')).state;
      return total === sent.length ? null : `${total} parcels are counted, and ${sent.length} are sent`;
    },
    sum: () => {
      const happened = effects.filter((effect) => effect.happened);
      const repeated = happened.length - new Set(happened.map(({ eventId }) => eventId)).size;
      return { effects: happened.length, repeated };
    },
  };

  async function passes(ms: number, signal: AbortSignal, gate: () => Promise<void>): Promise<void> {
    await clock.sleep(Math.floor(ms), signal);
    await gate();
  }

  function isDisturbed({ process, fromMs }: Effect): boolean {
    return disturbances.some(
      (one) => one.process === process && one.atMs >= fromMs && one.atMs <= fromMs + concludedMs,
    );
  }
}
