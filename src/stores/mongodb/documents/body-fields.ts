import { isList } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged } from '../../../event-sourcing/ports/errors.js';
import type { JsonObject, JsonValue } from '../../../event-sourcing/ports/domain-event.js';
import type { Random } from '../../../kit/time/clock.js';
import type { Document } from 'mongodb';
import type { z } from 'zod';

/** @throws StoreDamaged when another program wrote the document or a person edited it */
export function parseStored<Schema extends z.ZodType>(
  schema: Schema,
  document: Document,
  collection: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new StoreDamaged(
    `collection ${collection} holds a document that Stowage did not write; give Stowage a separate database, or remove the document`,
  );
}

/** Makes 96 random bits that name the write that made a document. The randomness of two processes must differ. */
export function makeToken(random: Random): string {
  return [0, 1, 2]
    .map(() =>
      Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('');
}

/** The stored form of a body: the same values, under keys without a meaning to MongoDB or its driver. */
type StoredBody = Record<string, unknown>;

// To the server, dots are paths and dollars are operators. To the driver, `$ref` with `$id` is a reference, and
// `_bsontype` names a BSON type. A NUL ends a key on the wire.
const special = /[%.$\0]/g;
const wholeKeys: ReadonlyMap<string, string> = new Map([
  ['', '%'],
  ['__proto__', '%5F_proto__'],
  ['_bsontype', '%5Fbsontype'],
]);

/** Percent-encodes the special characters of a key. Ordinary keys stay readable. */
export function encodeKey(key: string): string {
  return wholeKeys.get(key) ?? key.replace(special, percentEncode);
}

export function decodeKey(key: string): string {
  if (!key.includes('%')) return key;
  if (key === '%') return '';
  return key.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Encodes a body. It stores a lone surrogate as U+FFFD, because JSON text can contain one and UTF-8 cannot. */
export function encodeBody(body: JsonObject): StoredBody {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [encodeKey(key), encodeValue(value)]));
}

/** Decodes a stored body. @throws StoreDamaged when a value is not one that `encodeBody` makes */
export function decodeBody(stored: object): JsonObject {
  return Object.fromEntries(
    Object.entries(stored).map(([key, value]) => [decodeKey(key), decodeValue(value)]),
  );
}

/** Returns the path at which the field of an index is stored. */
export function storedPath(path: string): string {
  return ['body', ...path.split('.').map(encodeKey)].join('.');
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function encodeValue(value: JsonValue): unknown {
  if (isList(value)) return value.map(encodeValue);
  return typeof value === 'object' && value !== null ? encodeBody(value) : value;
}

function decodeValue(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (Array.isArray(value)) return value.map(decodeValue);
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype)
    return decodeBody(value);
  throw new StoreDamaged('a read-model document holds a value that is not JSON; rebuild the projection');
}

// `Array.isArray` does not narrow a union with readonly arrays.
