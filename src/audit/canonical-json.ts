import type { JsonValue } from '../event-sourcing/ports/domain-event.js';

/** A value has no canonical form: it contains half a surrogate pair, or it nests too deeply. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
}

/** Every level is a call of the function itself. A deeper value could exhaust the stack of another verifier. */
const depthMax = 100;

/** Half of a surrogate pair. UTF-8 has no form for it, so two verifiers could hash different bytes. */
const halfPair = /\p{Surrogate}/u;

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
  if (isList(value)) return `[${value.map((item) => canonicalAt(item, depth + 1)).join(',')}]`;
  // `sort` compares UTF-16 code units, as RFC 8785, section 3.2.3, demands.
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${canonicalString(key)}:${canonicalAt(value[key] ?? null, depth + 1)}`);
  return `{${fields.join(',')}}`;
}

function canonicalString(text: string): string {
  if (halfPair.test(text)) throw new NotCanonical('a string contains half a surrogate pair');
  return JSON.stringify(text);
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
