import {
  isJsonObject,
  isList,
  type JsonObject,
  type JsonValue,
} from '../../../event-sourcing/ports/domain-event.js';

const none: ReadonlySet<string> = new Set();

/** Returns the strings at a dotted path of a document. For a list on the path or at its end, every element counts. */
export function indexValues(body: JsonObject | null, path: string): ReadonlySet<string> {
  if (body === null) return none;
  const keys = path.split('.');
  const [only] = keys;
  // Most paths are one key of a string or a list of strings; the steps below take several times as long.
  if (keys.length === 1 && only !== undefined) {
    const value = Object.hasOwn(body, only) ? body[only] : null;
    if (typeof value === 'string') return new Set([value]);
    if (value === null || value === undefined) return none;
    if (isList(value)) return new Set(value.filter(isString));
    return none;
  }
  let reached: JsonValue[] = [body];
  for (const key of keys) {
    reached = reached.flatMap((value) =>
      elements(value).flatMap((element) =>
        isJsonObject(element) && Object.hasOwn(element, key) ? [element[key] ?? null] : [],
      ),
    );
  }
  return new Set(reached.flatMap(elements).filter(isString));
}

/** Returns a text as SQLite stores it. */
export function asStored(text: string): string {
  return text.toWellFormed();
}

function isString(value: JsonValue): value is string {
  return typeof value === 'string';
}

function elements(value: JsonValue): readonly JsonValue[] {
  return isList(value) ? value : [value];
}
