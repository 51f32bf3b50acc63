import { z } from 'zod';
import type { DomainEvent, JsonObject, StoredEvent } from './domain-event.js';
import { type EventCodec, type EventOf, makeEventCodec, type Upcaster } from './event-codec.js';

/**
 * The stored form of an encrypted value. Events and documents hold it in place of personal data and secrets.
 * `v1.<envelope>` is sealed under the data key of its scope, `v1.<master key id>.<envelope>` directly under that master
 * key. The envelope is base64url. Only `src/keys/sealing/envelope.ts` makes and opens it.
 */
export const sealedSchema = z
  .string()
  .regex(/^v1\.(?:[A-Za-z0-9-]{1,32}\.)?[A-Za-z0-9_-]{80,}$/)
  .brand<'Sealed'>();

/**
 * What the actor did, in words after the actor and without a full stop: the sentence of the audit log. It names a sealed value as
 * sealed, and shows no digest.
 * @param id the stream's id
 */
type Did<Data> = (data: Data, id: string) => string;

/** The fields of the webhook message that the data of the event does not have by the same name. */
type Told<Data> = (data: Data) => JsonObject;

/** All that an event type says: its storage format, its sentence, and its webhook message, if it has one. */
interface EventSpec<Schema, Data, Message extends string | null> {
  readonly schema: Schema;
  readonly did: Did<Data>;
  readonly message: Message;
  readonly told: Told<Data>;
}

type Strict<Fields extends z.ZodRawShape> = z.ZodObject<Fields, z.core.$strict>;
type Spec<Fields extends z.ZodRawShape, Message extends string | null> = EventSpec<
  Strict<Fields>,
  z.output<Strict<Fields>>,
  Message
>;

/**
 * Describes an event type.
 * @param fields the storage format of its data
 * @param message the type of its webhook message
 * @param told makes the fields of the message that the data does not have by the same name
 */
export function event<Fields extends z.ZodRawShape>(
  fields: Fields,
  did: Did<z.output<Strict<Fields>>>,
): Spec<Fields, null>;
export function event<Fields extends z.ZodRawShape, const Message extends string>(
  fields: Fields,
  did: Did<z.output<Strict<Fields>>>,
  message: Message,
  told?: Told<z.output<Strict<Fields>>>,
): Spec<Fields, Message>;
export function event<Fields extends z.ZodRawShape>(
  fields: Fields,
  did: Did<z.output<Strict<Fields>>>,
  message: string | null = null,
  told: Told<z.output<Strict<Fields>>> = () => ({}),
): Spec<Fields, string | null> {
  return { schema: z.strictObject(fields), did, message, told };
}

/** The event types of one aggregate. */
export interface AggregateEvents<Event extends DomainEvent, Message extends string = string> {
  /** How its streams are named, for example `share-{id}`. */
  readonly streams: string;
  readonly category: string;
  readonly codec: EventCodec<Event>;
  /** Returns what the actor of a stored event did. @throws UndecodableEvent */
  did(stored: StoredEvent, id: string): string;
  /** The type of the webhook message of each stored type; null: the service sends none. */
  readonly messages: ReadonlyMap<string, Message | null>;
  /** Returns the data of an event, with what its message says of it. Most of that is not for receivers. */
  told(event: Event): JsonObject;
}

/** The union of the events of an aggregate. */
export type EventIn<Events> = Events extends AggregateEvents<infer Event> ? Event : never;

type Specs = Readonly<Record<string, EventSpec<z.ZodType<JsonObject>, never, string | null>>>;
type SchemasOf<S extends Specs> = { readonly [Type in keyof S]: S[Type]['schema'] };
type MessagesOf<S extends Specs> = Exclude<S[keyof S]['message'], null>;

/** A stored type that is written no more: what makes the event of it, and its message. */
interface Retired<Message extends string> {
  readonly upcast: Upcaster;
  readonly message: Message | null;
}

/**
 * Makes the events of an aggregate.
 * @param streams how its streams are named: the category, a hyphen, and what the id is
 * @param specs by stored type. Names and shapes are the storage format (src/event-sourcing/README.md#stored-types)
 */
export function makeEvents<S extends Specs>(
  streams: string,
  specs: S,
  retired: Readonly<Record<string, Retired<MessagesOf<S>>>> = {},
): AggregateEvents<EventOf<SchemasOf<S>>, MessagesOf<S>> {
  const entries = Object.entries(specs);
  const codec = makeEventCodec(
    Object.fromEntries(entries.map(([type, { schema }]) => [type, schema])) as SchemasOf<S>,
    Object.fromEntries(Object.entries(retired).map(([type, { upcast }]) => [type, upcast])),
  );
  // The codec checks the data, so each sentence gets the data of its type.
  const sentences = new Map(entries.map(([type, { did }]) => [type, did as Did<unknown>]));
  return {
    streams,
    category: streams.slice(0, streams.indexOf('-')),
    codec,
    did: (stored, id) => {
      const { type, data } = codec.decode(stored);
      return sentences.get(type)?.(data, id) ?? '';
    },
    told: ({ type, data }) => ({ ...data, ...(specs[type]?.told as Told<unknown> | undefined)?.(data) }),
    messages: new Map(
      [...entries, ...Object.entries(retired)].map(([type, { message }]) => [
        type,
        message as MessagesOf<S> | null,
      ]),
    ),
  };
}

/** What events change, by type: an event that is left out changes nothing. */
export type ChangesBy<Event extends DomainEvent, Before, Changed> = {
  readonly [Type in Event['type']]?: (event: Extract<Event, { type: Type }>, before: Before) => Changed;
};

/** Returns what an event changes; null: nothing. */
export function changeBy<Event extends DomainEvent, Before, Changed>(
  changes: ChangesBy<Event, Before, Changed>,
  event: Event,
  before: Before,
): Changed | null {
  const table = changes as Readonly<Record<string, ((event: Event, before: Before) => Changed) | undefined>>;
  return table[event.type]?.(event, before) ?? null;
}
