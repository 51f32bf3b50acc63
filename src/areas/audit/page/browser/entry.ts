import { type Bytes, digestOfBytes, hexOf, utf8Of } from './proof/bytes.js';
import { hashLeaf } from './proof/tree.js';

/** What the fragment of the address says: which view, and its filters. It holds no secret, so links can be shared. */
export interface PageState {
  readonly view: 'events' | 'stream' | 'status';
  /** The values that are not empty, by the names of the query of the service. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The fields of each view: the filters of `GET /audit/events`, and those of `GET /audit/streams/{stream}`. */
export const fieldsOfView = {
  events: ['stream', 'type', 'actor', 'project', 'from', 'to'],
  stream: ['stream', 'as_of'],
  status: [],
} as const satisfies Readonly<Record<PageState['view'], readonly string[]>>;

const valueLengthMax = 300;

/** Reads a fragment, with or without `#`. What it does not know, it leaves out. */
export function stateOfFragment(fragment: string): PageState {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  const named = given.get('view');
  const view = named === 'stream' || named === 'status' ? named : 'events';
  const fields: Record<string, string> = {};
  for (const name of fieldsOfView[view]) {
    const value = (given.get(name) ?? '').trim().slice(0, valueLengthMax);
    if (value !== '') fields[name] = value;
  }
  return { view, fields };
}

/** Returns the fragment of a state, with `#`. */
export function fragmentOf({ view, fields }: PageState): string {
  return `#${new URLSearchParams({ view, ...fields }).toString()}`;
}

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
