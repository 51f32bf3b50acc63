import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StoredEvent } from '../../event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { makeSizedLru, objectBytesPerJsonByte } from '../../kit/lru.js';
import { elementsOfRecord, type Pace, processPace } from '../../kit/read-in-turns.js';
import { foldEvent, makeMessage, type MessageFold, needsAll, type WebhookMessage } from './make-message.js';

/**
 * Makes the message of an event. It keeps the folds of the streams that had messages last, so the next message of a stream
 * reads and folds only what came since, however long the stream is. @throws StoreUnavailable, UndecodableEvent, StoreDamaged
 */
type MessageOf = (event: StoredEvent) => Promise<WebhookMessage>;

/** Streams whose folds an endpoint keeps, and the bytes of their events. */
const keptMax = { entriesMax: 200, bytesMax: 4 * 1024 * 1024 };
const pageSize = 500;

export function makeMessageOf(eventStore: Pick<EventStore, 'read'>, pace: Pace = processPace): MessageOf {
  const kept = makeSizedLru<MessageFold>({
    ...keptMax,
    bytesOf: ({ bytes }) => objectBytesPerJsonByte * bytes,
  });
  return async (event) => {
    const found = kept.get(event.stream) ?? null;
    // An attempt is repeated with its event. An operator's replay begins before the kept fold.
    const fold = found?.revision === event.revision ? found : await foldTo(event, found);
    kept.set(event.stream, fold);
    return makeMessage(fold, event);
  };

  async function foldTo(event: StoredEvent, found: MessageFold | null): Promise<MessageFold> {
    const usable = found !== null && found.revision < event.revision ? found : null;
    const before = needsAll(event.stream)
      ? await foldBetween(event, usable)
      : (usable ?? (await firstOf(event)));
    return foldEvent(before, event);
  }

  /** Folds the events between the kept fold and the event. */
  async function foldBetween(
    { stream, revision }: StoredEvent,
    from: MessageFold | null,
  ): Promise<MessageFold | null> {
    let fold = from;
    for (let next = (from?.revision ?? -1n) + 1n; next < revision;) {
      const limit = Math.min(pageSize, Number(revision - next));
      const page = await eventStore.read(stream, { from: next, limit });
      if (page.length < limit)
        throw new StoreUnavailable('the log does not return all events before an event');
      for (const event of page) {
        const turn = pace.spend({ bytes: 0, elements: elementsOfRecord });
        if (turn !== undefined) await turn;
        fold = foldEvent(fold, event);
      }
      next += BigInt(page.length);
    }
    return fold;
  }

  async function firstOf({ stream, revision }: StoredEvent): Promise<MessageFold | null> {
    if (revision === 0n) return null;
    const [first] = await eventStore.read(stream, { limit: 1 });
    if (first === undefined)
      throw new StoreUnavailable('the log does not return the first event of a stream');
    return foldEvent(null, first);
  }
}
