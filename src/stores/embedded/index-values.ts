import type { JsonObject, JsonValue } from '../../event-sourcing/domain-event.js';

/** The strings that a dotted path leads to in a document; lists on the way and at its end count for each element. */
export function indexValues(body: JsonObject | null, path: string): ReadonlySet<string> {
  let reached: JsonValue[] = body === null ? [] : [body];
  for (const key of path.split('.')) {
    reached = reached.flatMap((value) =>
      elements(value).flatMap((element) =>
        isObject(element) && Object.hasOwn(element, key) ? [element[key] ?? null] : [],
      ),
    );
  }
  return new Set(reached.flatMap(elements).filter((value) => typeof value === 'string'));
}

function elements(value: JsonValue): readonly JsonValue[] {
  return isList(value) ? value : [value];
}

// `Array.isArray` does not narrow a union with readonly arrays.
function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}
