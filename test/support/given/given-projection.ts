import type { ExecutionContext } from 'ava';
import type { DomainEvent, JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { foldEvents, type Projection } from '../../../src/event-sourcing/views/projection.js';
import { recordEvents } from './given-events.js';

/**
 * `givenProjection(projection, …events).then(t, body)` asserts the document. Each case also asserts that a repeated
 * event applies once, that a replay of any prefix changes nothing, and that the document survives JSON.
 */
export function givenProjection<Document extends JsonObject, Event extends DomainEvent>(
  projection: Projection<Document, Event>,
  ...events: readonly Event[]
): { then(t: ExecutionContext, body: Document | null): void } {
  const stored = recordEvents(projection, 'example', events);
  return {
    then: (t, body) => {
      const once = foldEvents(projection, null, stored);
      const document = { id: 'example', revision: BigInt(events.length - 1), body };
      t.deepEqual(once, document);
      t.deepEqual(JSON.parse(JSON.stringify(body)), body, 'the document survives JSON');
      const twice = stored.flatMap((event) => [event, event]);
      t.deepEqual(foldEvents(projection, null, twice), document, 'every event twice');
      for (let length = 0; length <= stored.length; length += 1) {
        const prefix = stored.slice(0, length);
        t.deepEqual(foldEvents(projection, document, prefix), document, `a replay of the first ${length}`);
        const resumed = foldEvents(
          projection,
          foldEvents(projection, null, prefix) as typeof document | null,
          stored,
        );
        t.deepEqual(resumed, document, `all of it after the first ${length}`);
      }
    },
  };
}
