import { hash } from 'node:crypto';
import type { JsonObject, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import { canonicalJson } from './canonical-json.js';

/** The fields of an event that its leaf covers. */
export type LeafEvent = Pick<StoredEvent, 'id' | 'stream' | 'revision' | 'type' | 'recordedAt' | 'data'> & {
  readonly metadata: object;
};

/**
 * Returns the log entry of an event: the RFC 8785 form of
 * `{v: 1, id, stream, revision, type, recorded_at, data, metadata}`, whose last two fields are SHA-256 (hex) over the
 * RFC 8785 forms of the event's fields. About 340 bytes. The format never changes, because every signed checkpoint
 * covers it: src/areas/audit/README.md#leaves.
 * @throws NotCanonical when the event contains half a surrogate pair or nests beyond 100 levels
 */
export function entryOf({ id, stream, revision, type, recordedAt, data, metadata }: LeafEvent): string {
  // Metadata is a JSON object in the store, as data is.
  const digests = [digestOf(data), digestOf(metadata as JsonObject)];
  // The fields are in canonical order.
  return (
    `{"data":"${digests[0]}","id":${canonicalJson(id)},"metadata":"${digests[1]}",` +
    `"recorded_at":"${recordedAt.toISOString()}","revision":${revision},` +
    `"stream":${canonicalJson(stream)},"type":${canonicalJson(type)},"v":1}`
  );
}

function digestOf(value: JsonObject): string {
  return hash('sha256', canonicalJson(value));
}
