import { StoreDamaged } from '../../event-sourcing/errors.js';
import type { JsonObject, JsonValue } from '../../event-sourcing/domain-event.js';

/** A body as it is stored: the same values, under keys that mean nothing to MongoDB or its driver. */
export type StoredBody = Record<string, unknown>;

// Dots and dollars are paths and operators to servers and `$ref` with `$id` a reference to the driver, which takes
// `_bsontype` for a type of its own; a NUL ends a key on the wire.
const special = /[%.$\0]/g;
const wholeKeys: ReadonlyMap<string, string> = new Map([
  ['', '%'],
  ['__proto__', '%5F_proto__'],
  ['_bsontype', '%5Fbsontype'],
]);

/** Percent-encodes what is special in a key; ordinary keys stay as they are, so that documents can be read by people. */
export function encodeKey(key: string): string {
  return wholeKeys.get(key) ?? key.replace(special, percentEncode);
}

export function decodeKey(key: string): string {
  if (key === '%') return '';
  return key.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/**
 * The stored form of a body. A lone surrogate, which JSON text can carry and UTF-8 cannot, is stored as U+FFFD.
 */
export function encodeBody(body: JsonObject): StoredBody {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [encodeKey(key), encodeValue(value)]));
}

/** The body of a stored form. @throws StoreDamaged where a value is not one that `encodeBody` makes */
export function decodeBody(stored: object): JsonObject {
  return Object.fromEntries(
    Object.entries(stored).map(([key, value]) => [decodeKey(key), decodeValue(value)]),
  );
}

/** Where the field of an index is stored. */
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
function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
