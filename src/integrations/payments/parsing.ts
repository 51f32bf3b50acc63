/** A JSON object that came from outside: nothing is known of its fields. */
export type Fields = Readonly<Record<string, unknown>>;

const earliestMs = Date.parse('0000-01-01T00:00:00.000Z');
const latestMs = Date.parse('9999-12-31T23:59:59.999Z');

/** The object that the bytes are in JSON (UTF-8), or null. Only for bytes whose signature holds. */
export function parseJsonObject(bytes: Buffer): Fields | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isFields(value) ? value : null;
  } catch {
    // Neither UTF-8 nor JSON: both are told of by throwing.
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands at a dotted path, of the objects' own fields only; undefined where any step is missing. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const step of path.split('.')) {
    if (!isFields(found) || !Object.hasOwn(found, step)) return undefined;
    found = found[step];
  }
  return found;
}

/** A text at the path of 1 to `max` characters, or null. */
export function textAt(value: unknown, path: string, max = 256): string | null {
  const found = at(value, path);
  return typeof found === 'string' && found !== '' && found.length <= max ? found : null;
}

/** The list at the path; empty where there is none. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  const found = at(value, path);
  return Array.isArray(found) ? found : [];
}

/** A time at the path, as RFC 3339 or whole seconds since 1970, or null. */
export function timeAt(value: unknown, path: string): Date | null {
  const found = at(value, path);
  if (typeof found === 'string') return parseTime(found);
  return typeof found === 'number' && Number.isSafeInteger(found)
    ? recordable(new Date(found * 1_000))
    : null;
}

/** An RFC 3339 time, or null. */
export function parseTime(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return null;
  return recordable(new Date(text));
}

/** Null unless it is a time that events can hold, of the years 0000 to 9999: milliseconds taken for seconds are none. */
function recordable(time: Date): Date | null {
  return time.getTime() >= earliestMs && time.getTime() <= latestMs ? time : null;
}

/** The bytes of a base64 text (RFC 4648, section 4), spelled the one way it can be; null for any other text. */
export function decodeBase64(text: string): Buffer | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  // Node reads leniently: unused bits may be anything.
  return bytes.toString('base64') === text ? bytes : null;
}
