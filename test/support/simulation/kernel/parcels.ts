import { z } from 'zod';
import type { Aggregate, CommandHandler } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { type EventOf, makeEventCodec } from '../../../../src/event-sourcing/ports/event-codec.js';
import type {
  AnyReaction,
  Reaction,
  ReactionEvent,
} from '../../../../src/event-sourcing/effects/reaction.js';
import { counterAggregate } from '../../examples/counter-aggregate.js';

/**
 * A small example for the tests of reactions: parcels that are requested, sent by an outside effect, and counted by a
 * command.
 */
const schemas = {
  ParcelAsked: z.strictObject({ n: z.int(), expires_at: z.iso.datetime().nullable() }),
  ParcelSent: z.strictObject({ n: z.int() }),
  ParcelWithdrawn: z.strictObject({ n: z.int() }),
};

export type ParcelEvent = EventOf<typeof schemas>;
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
