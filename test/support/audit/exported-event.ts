import type { StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { ExportedEvent } from './audit-export.js';

/** Returns an event of a log as a line of an export has it. */
export function exportedOf(event: StoredEvent): ExportedEvent {
  const { id, stream, revision, type, recordedAt, data, metadata } = event;
  return {
    ...{ id, stream, revision: Number(revision), type, recorded_at: recordedAt.toISOString() },
    ...{ data, metadata: { ...metadata } },
  };
}
