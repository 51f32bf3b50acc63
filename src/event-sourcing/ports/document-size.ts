import type { JsonObject, JsonValue } from './domain-event.js';
import { DocumentTooLarge } from './errors.js';

/**
 * The limit of a document's body, in bytes as `documentBytes` counts them. MongoDB stores at most 16 MiB; the rest is for
 * the other fields and for encoded keys. A command that would make a larger document must refuse: no view can show it.
 */
export const maxDocumentBytes = 12 * 1024 * 1024;

/**
 * Returns the size of a body in BSON (bsonspec.org, version 1.1), with 8 bytes for each number. Every store counts in this
 * way, so that all of them accept the same documents.
 */
export function documentBytes(body: JsonObject | null): number {
  return body === null ? 0 : objectBytes(body);
}

/** Returns the size of the document's body. @throws DocumentTooLarge */
export function assertDocumentFits({
  id,
  body,
}: {
  readonly id: string;
  readonly body: JsonObject | null;
}): number {
  const bytes = documentBytes(body);
  if (bytes <= maxDocumentBytes) return bytes;
  throw new DocumentTooLarge(
    `the document ${id} has ${bytes} bytes, and a document may have ${maxDocumentBytes}; nothing was written`,
  );
}

/** A type byte and the NUL of the key come before each value; 4 bytes of length and a NUL enclose an object. */
function objectBytes(object: JsonObject): number {
  let bytes = 5;
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    const value = object[key];
    if (value !== undefined) bytes += 2 + Buffer.byteLength(key) + valueBytes(value);
  }
  return bytes;
}

function valueBytes(value: JsonValue): number {
  if (typeof value === 'string') return 5 + Buffer.byteLength(value);
  if (typeof value === 'number') return 8;
  if (typeof value === 'boolean') return 1;
  if (value === null) return 0;
  if (!isList(value)) return objectBytes(value);
  // The keys of a list are its indexes.
  return value.reduce<number>(
    (bytes, element, index) => bytes + 2 + String(index).length + valueBytes(element),
    5,
  );
}

// `Array.isArray` does not narrow a union with readonly arrays.
function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
