import {
  isList,
  type JsonObject,
  type JsonValue,
  type StoredEvent,
} from '../../../event-sourcing/ports/domain-event.js';
import { hash } from 'node:crypto';

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

/** A value has no canonical form: it contains half a surrogate pair, or it nests too deeply. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
}

/** Every level is a call of the function itself. A deeper value could exhaust the stack of another verifier. */
const depthMax = 100;

/**
 * Returns the canonical form of a JSON value: RFC 8785, "JSON Canonicalization Scheme". ECMAScript's `JSON.stringify`
 * writes strings and numbers as RFC 8785, sections 3.2.2.2 and 3.2.2.3, demands.
 * @throws NotCanonical
 */
export function canonicalJson(value: JsonValue): string {
  return canonicalAt(value, 0);
}

function canonicalAt(value: JsonValue, depth: number): string {
  if (typeof value === 'string') return canonicalString(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth === depthMax) throw new NotCanonical(`the value nests more than ${depthMax} levels`);
  return isList(value) ? canonicalList(value, depth + 1) : canonicalObject(value, depth + 1);
}

function canonicalList(list: readonly JsonValue[], depth: number): string {
  let items = '';
  for (const item of list) items += `${items === '' ? '' : ','}${canonicalAt(item, depth)}`;
  return `[${items}]`;
}

function canonicalObject(value: JsonObject, depth: number): string {
  let fields = '';
  // `sort` compares UTF-16 code units, as RFC 8785, section 3.2.3, demands.
  for (const key of Object.keys(value).sort()) {
    fields += `${fields === '' ? '' : ','}${canonicalString(key)}:${canonicalAt(value[key] ?? null, depth)}`;
  }
  return `{${fields}}`;
}

/** A string that JSON writes as it stands. Nearly all strings of events are; the check takes a fraction of `JSON.stringify`. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function canonicalString(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  // UTF-8 has no form for half a surrogate pair, so two verifiers could hash different bytes.
  if (!text.isWellFormed()) throw new NotCanonical('a string contains half a surrogate pair');
  return JSON.stringify(text);
}
