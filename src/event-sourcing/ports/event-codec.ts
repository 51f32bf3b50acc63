import type { z } from 'zod';
import type { DomainEvent, JsonObject, NewEvent, Recorded, StoredEvent } from './domain-event.js';
import { UndecodableEvent } from './errors.js';

type Schemas = Readonly<Record<string, z.ZodType<JsonObject>>>;

/** The union of events that a table of schemas by stored type describes. */
export type EventOf<S extends Schemas> = {
  [Type in keyof S & string]: DomainEvent<Type, z.output<S[Type]>>;
}[keyof S & string];

/** Turns the payload of a retired stored type into an event of the next version. Pure. */
export type Upcaster = (data: JsonObject) => { readonly type: string; readonly data: JsonObject };

/** Converts the events of one aggregate to and from stored JSON. No code casts after decoding. */
export interface EventCodec<Event extends DomainEvent> {
  /** The storage format of the current types. */
  readonly schemas: Schemas;
  readonly types: readonly string[];
  /** Checks the payload against its schema, so that every stored event is readable. @throws UndecodableEvent */
  encode(event: Event): Event & Pick<NewEvent, 'type' | 'data'>;
  /** @throws UndecodableEvent that names type, stream and revision */
  decode(stored: StoredEvent): Recorded<Event> & { readonly recordedAt: Date };
}

/**
 * Makes the codec of an aggregate.
 * @param schemas strict schemas by stored type: they are the storage format
 * @param upcasters by retired stored type
 */
export function makeEventCodec<S extends Schemas>(
  schemas: S,
  upcasters: Readonly<Record<string, Upcaster>> = {},
): EventCodec<EventOf<S>> {
  const byType = new Map(Object.entries(schemas));
  const upcasterByType = new Map(Object.entries(upcasters));
  return {
    schemas,
    types: [...byType.keys(), ...upcasterByType.keys()],
    encode: (event) => {
      const encoded = { type: event.type, data: parse(event.type, event.data, null) };
      return encoded as typeof encoded & EventOf<S>;
    },
    decode: (stored) => {
      const { type, data } = upcasterByType.size === 0 ? stored : upcast(stored);
      const recorded = {
        type,
        data: parse(type, data, stored),
        id: stored.id,
        stream: stored.stream,
        revision: stored.revision,
        metadata: stored.metadata,
        time: stored.metadata.time,
        recordedAt: stored.recordedAt,
      };
      return recorded as typeof recorded & EventOf<S>;
    },
  };

  /** Applies upcasters, one version a step, until the type is current. */
  function upcast(stored: StoredEvent): { readonly type: string; readonly data: JsonObject } {
    let current: { readonly type: string; readonly data: JsonObject } = stored;
    for (let steps = 0; steps <= upcasterByType.size; steps += 1) {
      const step = upcasterByType.get(current.type);
      if (step === undefined) return current;
      try {
        current = step(current.data);
      } catch {
        // The cause is left out: the messages of JSON.parse and BigInt quote values.
        throw new UndecodableEvent(
          `event ${current.type} (${nameOf(stored)}) could not be upcast${remedyFor(stored)}`,
        );
      }
    }
    throw new UndecodableEvent(`the upcasters of event ${stored.type} (${nameOf(stored)}) lead in a circle`);
  }

  function parse(type: string, data: unknown, stored: StoredEvent | null): JsonObject {
    const schema = byType.get(type);
    if (schema === undefined) {
      throw new UndecodableEvent(
        `event type ${type} (${nameOf(stored)}) is unknown to this version${remedyFor(stored)}`,
      );
    }
    const result = schema.safeParse(data);
    if (!result.success) {
      // Paths and codes only: values may be personal.
      const issues = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.code}`).join('; ');
      throw new UndecodableEvent(
        `event ${type} (${nameOf(stored)}) does not fit its schema: ${issues}${remedyFor(stored)}`,
      );
    }
    return result.data;
  }
}

function nameOf(stored: StoredEvent | null): string {
  return stored === null ? 'a new event' : `${stored.stream} at revision ${stored.revision}`;
}

/** The release that wrote a stored event can read it. For a new event there is no remedy: the program is wrong. */
function remedyFor(stored: StoredEvent | null): string {
  return stored === null ? '' : '; run the version that wrote it, or a newer one';
}
