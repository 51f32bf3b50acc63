import type { NewEvent } from '../../../event-sourcing/ports/domain-event.js';
import { EventTooLarge } from '../../../event-sourcing/ports/errors.js';
import { eventBytes } from '../../../event-sourcing/feeding/event-bytes.js';
import { maxAppendBytes, maxEventBytes } from '../../../event-sourcing/ports/event-store.js';

/** Refuses events that are too large before anything is sent. @throws EventTooLarge */
export function checkSizes(stream: string, events: readonly NewEvent[]): void {
  let total = 0;
  for (const { type, data, metadata } of events) {
    const bytes = eventBytes({ data, metadata });
    if (bytes > maxEventBytes) {
      throw new EventTooLarge(
        `an event ${type} for stream ${stream} takes ${bytes} bytes; ${maxEventBytes} are allowed`,
      );
    }
    total += bytes;
  }
  if (total > maxAppendBytes) {
    throw new EventTooLarge(
      `an append to stream ${stream} takes ${total} bytes; ${maxAppendBytes} are allowed`,
    );
  }
}
