import { isUtf8 } from 'node:buffer';
import { isCount, Malformed, verifierBounds, sha256 } from './basics.js';

/** The RFC 8785 form of a parsed value. @throws Malformed on a lone surrogate, or more than 100 levels. */
function canonical(value: unknown, depth = 0): string {
  if (typeof value === 'string' && /\p{Cs}/u.test(value)) throw new Malformed('it has a lone surrogate');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth >= verifierBounds.depth) throw new Malformed('it nests too deep');
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${canonical(name)}:${canonical(item, depth + 1)}`).join(',')}}`;
}

export interface EventLine {
  readonly index: number;
  readonly stream: string;
  readonly revision: number;
  readonly time: string;
  /** A zero byte, then the entry: the input of the leaf hash. */
  readonly leaf: Buffer;
}

const members = 'data,id,index,metadata,recorded_at,revision,stream,type';

/** Reads one event. @throws Malformed, or SyntaxError for no JSON */
function readLine(bytes: Buffer): EventLine {
  if (bytes.length > verifierBounds.line || !isUtf8(bytes))
    throw new Malformed('its line is too long or not UTF-8');
  const text = bytes.toString();
  const value = JSON.parse(text) as Record<string, unknown> | null;
  if (
    Object.keys(value ?? {})
      .sort()
      .join() !== members
  )
    throw new Malformed('its members are others');
  const { index, id, stream, revision, type, recorded_at: time, data, metadata } = value ?? {};
  if (!isCount(index) || !isCount(revision)) throw new Malformed('its index or revision is no count');
  const entry =
    `{"data":"${digestOf(data)}","id":${quoted(id)},"metadata":"${digestOf(metadata)}",` +
    `"recorded_at":${quoted(time)},"revision":${revision},"stream":${quoted(stream)},"type":${quoted(type)},"v":1}`;
  // Of two members with one name, JSON.parse drops the first: another reader would show a value that no digest covers.
  if (JSON.stringify(value) !== text)
    throw new Malformed(
      'its line has a member twice, or a space or an escape that JSON.stringify does not write',
    );
  return { index, revision, stream: String(stream), time: timeOf(time), leaf: Buffer.from(`\0${entry}`) };
}

const digestOf = (value: unknown): string => sha256(canonical(value)).toString('hex');

function quoted(value: unknown): string {
  if (typeof value !== 'string') throw new Malformed('its id, stream, type or recorded_at is no text');
  return canonical(value);
}

function timeOf(value: unknown): string {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return value;
  throw new Malformed('its recorded_at is no time');
}

/** Reads lines into their places by their indexes. `bad`: what is wrong with a line, by its number from 0. */
export function readLines(
  bytes: Buffer,
  base: number,
  width: number,
): { readonly lines: readonly (EventLine | undefined)[]; readonly bad: Map<number, string> } {
  const lines = new Array<EventLine | undefined>(width).fill(undefined);
  const bad = new Map<number, string>();
  let previous = -1;
  for (let number = 0, at = 0; at < bytes.length; number += 1) {
    const end = bytes.indexOf(10, at);
    try {
      if (number >= 2 * width) throw new Malformed('there are too many lines');
      const line = readLine(bytes.subarray(at, end === -1 ? bytes.length : end));
      const slot = line.index - base;
      if (!(slot > previous && slot < width))
        throw new Malformed(`its index is ${line.index}, which is out of order`);
      if (end === -1) throw new Malformed('it ends without a line break');
      lines[(previous = slot)] = line;
    } catch (error) {
      bad.set(number, error instanceof Malformed ? error.message : 'it is no JSON');
    }
    at = end === -1 || number >= 2 * width ? bytes.length : end + 1;
  }
  return { lines, bad };
}

/** Cuts a bundle into its entries. `rest` counts the bytes that are in none of them. */
export function readEntries(
  bytes: Buffer,
  width: number,
): { readonly entries: readonly Buffer[]; readonly rest: number } {
  const entries: Buffer[] = [];
  let at = 0;
  while (entries.length < width && at + 2 <= bytes.length) {
    const end = at + 2 + bytes.readUInt16BE(at);
    if (end > bytes.length) break;
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  return { entries, rest: bytes.length - at };
}
