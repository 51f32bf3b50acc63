import type { RecordedEvent } from '@eventstore/db-client';
import type { EventMetadata, JsonObject, StoredEvent } from '../../event-sourcing/domain-event.js';

/**
 * What the types of unreadable records begin with. No codec knows such a type, so decoding one stops its projection
 * and names the place (DESIGN 2.9), while reads go on for everybody else. Schemas alone would not do: an upcaster sees
 * the data before a schema does.
 */
export const unreadable = 'unreadable:';

const unreadableMetadata: EventMetadata = {
  command_id: '',
  causation_id: '',
  correlation_id: '',
  actor: '',
  time: '',
};

/** A record of one of our streams as the port gives it; `stream` is its name without the prefix. */
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
    type: `${unreadable}${record.type}`,
    data: { reason: isJsonObject(data) ? 'metadata of another kind' : 'data that is not a JSON object' },
    metadata: isEventMetadata(metadata) ? metadata : unreadableMetadata,
    recordedAt,
  };
}

/** The client parses JSON, and hands out the raw text where that fails. */
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
