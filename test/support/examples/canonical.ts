import type { JsonValue } from '../../../src/event-sourcing/ports/domain-event.js';

/** Returns JSON text with sorted keys, including own keys like `__proto__`. Equal texts mean equal values. */
export function canonical(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}

// `Array.isArray` does not narrow a union with readonly arrays.
function isArray(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
