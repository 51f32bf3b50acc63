import { isJsonObject } from '../../../../event-sourcing/ports/domain-event.js';
import { processPace } from '../../../../kit/read-in-turns.js';

const digit = '[0-9A-HJKMNP-TV-Z]';

/** An order's number is a UUID in Crockford's base 32 (src/areas/payments/README.md#callbacks). */
const anyNumber = new RegExp(`^[0-7]${digit}{25}$`, 'i');
/** A UUIDv7 has the version in the 11th digit and the variant in the 14th. Other ids, for example ULIDs, rarely have both. */
const ourNumber = new RegExp(`^[0-7]${digit}{9}[EF]${digit}{2}[89ABRSTV]${digit}{12}$`, 'i');

/**
 * Returns the first candidate that looks like a number of ours. A shop may use a field of the platform for another id,
 * and give our number in a later field. Without one, returns the first candidate, which leads to no order; null without
 * any.
 */
export function orderReference(...candidates: readonly (string | null)[]): string | null {
  const given = candidates.filter((candidate) => candidate !== null);
  const named = (shape: RegExp) => given.find((candidate) => shape.test(candidate));
  return named(ourNumber) ?? named(anyNumber) ?? given[0] ?? null;
}

/** A JSON object from outside, with unchecked fields. */
export type Fields = Readonly<Record<string, unknown>>;

const earliestMs = Date.parse('0000-01-01T00:00:00.000Z');
const latestMs = Date.parse('9999-12-31T23:59:59.999Z');

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON object (UTF-8). Returns null for anything else. Call it only for bytes with a valid signature: it reads them
 * without a yield, so the platform must vouch for them.
 */
export async function readJsonObject(bytes: Buffer): Promise<Fields | null> {
  await processPace.spend({ bytes: bytes.length, elements: 1 });
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    return isJsonObject(value) ? value : null;
  } catch {
    // Not UTF-8 or not JSON.
    return null;
  }
}

/** Returns the value at a dotted path, from own properties only; undefined if a step is missing. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const step of path.split('.')) {
    if (!isJsonObject(found) || !Object.hasOwn(found, step)) return undefined;
    found = found[step];
  }
  return found;
}

/** Returns a text of 1 to `max` characters, or null. The audit log has no form for half a surrogate pair, which JSON can name. */
export function textAt(value: unknown, path: string, max = 256): string | null {
  const found = at(value, path);
  const isText = typeof found === 'string' && found !== '' && found.length <= max && found.isWellFormed();
  return isText ? found : null;
}

export function listAt(value: unknown, path: string): readonly unknown[] {
  const found = at(value, path);
  return Array.isArray(found) ? found : [];
}

/** A time at the path, which is RFC 3339 or whole seconds since 1970, as events hold it; or null. */
export function timeAt(value: unknown, path: string): string | null {
  const found = at(value, path);
  if (typeof found === 'string') return parseTime(found)?.toISOString() ?? null;
  if (typeof found !== 'number' || !Number.isSafeInteger(found)) return null;
  return recordable(new Date(found * 1_000))?.toISOString() ?? null;
}

/** Parses an RFC 3339 time. Returns null for any other text. */
export function parseTime(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return null;
  return recordable(new Date(text));
}

/** Events store years 0000 to 9999 only. Milliseconds that are read as seconds lie outside. */
function recordable(time: Date): Date | null {
  return time.getTime() >= earliestMs && time.getTime() <= latestMs ? time : null;
}

/** Decodes base64 (RFC 4648, section 4) in its canonical spelling. Returns null for any other text. */
export function decodeBase64(text: string): Buffer | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  // Node ignores unused bits, so one value would have several spellings.
  return bytes.toString('base64') === text ? bytes : null;
}
