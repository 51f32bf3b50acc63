import { type Bytes, digestOfBytes, hexOf, utf8Of } from './proof/bytes.js';
import { hashLeaf } from './proof/tree.js';

/** An event as the service shows it. */
export interface ShownEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly recorded_at: string;
  readonly data: unknown;
  readonly metadata: unknown;
}

/** The log contains no such value, so a shown one was altered. */
export class NoCanonicalForm extends Error {
  override readonly name = 'NoCanonicalForm';
}

/** The log nests values no deeper: src/areas/audit/README.md#leaves. */
const levelsMax = 100;

/** Returns the hash of the event's leaf: src/areas/audit/README.md#leaves. @throws NoCanonicalForm */
export async function leafHashOf(event: ShownEvent): Promise<Bytes> {
  const { id, stream, revision, type, recorded_at, data, metadata } = event;
  const digests = { data: await digestOfValue(data), metadata: await digestOfValue(metadata) };
  return hashLeaf(canonicalTextOf({ v: 1, id, stream, revision, type, recorded_at, ...digests }));
}

/**
 * Returns the canonical form of a parsed JSON value: RFC 8785. `JSON.stringify` writes strings and numbers as it demands, and
 * `sort` compares UTF-16 code units.
 * @throws NoCanonicalForm for half a surrogate pair, and for more than 100 levels
 */
export function canonicalTextOf(value: unknown, level = 0): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (level === levelsMax) throw new NoCanonicalForm(`the value nests more than ${levelsMax} levels`);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalTextOf(item, level + 1)).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields).sort();
  return `{${names.map((name) => `${quoted(name)}:${canonicalTextOf(fields[name], level + 1)}`).join(',')}}`;
}

function quoted(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new NoCanonicalForm('a string contains half a surrogate pair');
  return JSON.stringify(text);
}

async function digestOfValue(value: unknown): Promise<string> {
  return hexOf(await digestOfBytes(utf8Of(canonicalTextOf(value))));
}
