import type { DomainEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventCodec } from '../../../src/event-sourcing/ports/event-codec.js';

type OfType<Event extends DomainEvent, Type extends Event['type']> = Extract<Event, { readonly type: Type }>;
type Some<Event> = Event extends { readonly data: infer Data } ? Partial<Data> : never;

/**
 * Makes an event. Its schema adds the fields with a default, so that a new one changes no test that is not about it.
 * @throws UndecodableEvent when another field is missing
 */
export function anEvent<Event extends DomainEvent, Type extends Event['type']>(
  codec: EventCodec<Event>,
  type: Type,
  data: Some<OfType<Event, Type>>,
): OfType<Event, Type> {
  return codec.encode({ type, data } as never) as never;
}

/** Makes the data of one event of each type of an aggregate, as `anEvent` does. */
export function examplesOf<Event extends DomainEvent>(
  codec: EventCodec<Event>,
  examples: { readonly [Type in Event['type']]: Some<OfType<Event, Type>> },
): { readonly [Type in Event['type']]: OfType<Event, Type>['data'] } {
  const made = Object.entries(examples).map(([type, data]) => [
    type,
    anEvent(codec, type, data as never).data,
  ]);
  return Object.fromEntries(made) as never;
}
