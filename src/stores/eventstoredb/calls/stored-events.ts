import type { RecordedEvent } from '@eventstore/db-client';
import type { EventMetadata, JsonObject, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';

/**
 * Begins the type of an unreadable record. No codec knows it, so a view sets the stream apart and reports the position
 * (src/event-sourcing/feeding/README.md#undecodable-events). A schema check would come too late, because an upcaster sees the data first.
 */
const unreadableTypePrefix = 'unreadable:';

const unreadableMetadata: EventMetadata = {
  command_id: '',
  causation_id: '',
  correlation_id: '',
  actor: '',
  time: '',
};

/** Turns a record of a stream of this service into a stored event; `stream` is its name without the prefix. */
export function toStoredEvent(record: RecordedEvent, stream: string): StoredEvent {
  const { id, revision, created: recordedAt } = record;
  const data: unknown = record.isJson ? record.data : null;
  const metadata: unknown = record.metadata;
  if (isJsonObject(data) && isEventMetadata(metadata)) {
    return { id, stream, revision, type: record.type, data, metadata, recordedAt };
  }
  return {
    id,
    stream,
    revision,
    type: `${unreadableTypePrefix}${record.type}`,
    data: { reason: isJsonObject(data) ? 'metadata of another kind' : 'data that is not a JSON object' },
    metadata: isEventMetadata(metadata) ? metadata : unreadableMetadata,
    recordedAt,
  };
}

/** The client parses JSON, and returns the raw text when the parse fails. */
function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEventMetadata(value: unknown): value is EventMetadata {
  return (
    isJsonObject(value) &&
    typeof value['command_id'] === 'string' &&
    typeof value['causation_id'] === 'string' &&
    typeof value['correlation_id'] === 'string' &&
    typeof value['actor'] === 'string' &&
    typeof value['time'] === 'string'
  );
}
