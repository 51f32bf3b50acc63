import { crc32 } from 'node:zlib';
import type {
  JsonObject,
  EventMetadata,
  LogEvent,
  NewEvent,
  Position,
  StoredEvent,
} from '../../../event-sourcing/ports/domain-event.js';
import type { StoreDamaged } from '../../../event-sourcing/ports/errors.js';
import { damage } from '../files/failures.js';
import { eventsFormat } from '../files/formats.js';

/** The columns of an event; queries select them as `eventColumns`. */
export type EventRow = readonly [sequence: bigint, revision: bigint, content: Buffer, checksum: bigint];
export const eventColumns = 'sequence, revision, CAST(content AS BLOB), checksum';

/** The stored form of an event. The names and their spelling are the storage format. */
interface StoredContent {
  readonly stream: string;
  readonly recorded_at: string;
  readonly id: string;
  readonly type: string;
  readonly metadata: EventMetadata;
  readonly data: JsonObject;
}

/** Encodes an event as JSON. The parts that can be large are JSON already, so they are not encoded twice. */
export function encodeContent(
  event: Pick<NewEvent, 'id' | 'type'>,
  json: { readonly stream: string; readonly metadata: string; readonly data: string },
  recordedAt: string,
): string {
  return `{"stream":${json.stream},"recorded_at":"${recordedAt}","id":${JSON.stringify(event.id)},"type":${JSON.stringify(
    event.type,
  )},"metadata":${json.metadata},"data":${json.data}}`;
}

/** Returns the CRC-32 (ISO 3309) of an event's content, mixed with its revision and its sequence in the log. */
export function eventChecksum(content: string | Buffer, sequence: number, revision: number): number {
  return (crc32(content, revision >>> 0) ^ sequence) >>> 0;
}

/** Decodes an event; `stream` keeps the prefix. @throws StoreDamaged when the row differs from the written one */
export function decodeRow([sequence, revision, content, checksum]: EventRow): StoredEvent {
  // A damaged row may hold null, or a value of another type than the schema declares.
  if ((content as Buffer | null) === null || typeof revision !== 'bigint') throw notAsWritten(sequence);
  const row = { sequence: Number(sequence), revision: Number(revision), checksum: Number(checksum) };
  const { stream, recorded_at, id, type, metadata, data } = decodeContent(content, row);
  return { id, type, data, metadata, stream, revision, recordedAt: new Date(recorded_at) };
}

/** The columns of an event in a page of the log. The contents of all events are concatenated as bytes. */
type PageEntry = readonly [sequence: number, revision: number, checksum: number, length: number];

/**
 * A page is one row. A row for each event is several times slower, mostly because of the buffer for each event. SQLite
 * reads the length of a content without the content.
 */
export const entriesColumn =
  'CAST(json_group_array(json_array(sequence, revision, checksum, octet_length(content))) AS BLOB)';

/** Commas make the contents a list, because one parse of a list takes less than a parse of each event. */
export const contentColumn = "CAST(group_concat(content, ',') AS BLOB)";

/** Returns how many of the entries it takes to reach a size: at least one, and all when they are smaller. */
export function countToReach(entries: readonly PageEntry[], bytes: number): number {
  let [sum, count] = [0, 0];
  for (const [, , , length] of entries) {
    sum += length;
    count += 1;
    if (sum >= bytes) break;
  }
  return count;
}

/** Parses the entries of a page. @throws StoreDamaged when a column does not hold a value of its type */
export function parseEntries(json: Buffer | undefined): readonly PageEntry[] {
  const entries = parsePage(json?.toString() ?? '[]');
  const wrong = entries.find((entry) => !entry.every(Number.isSafeInteger));
  if (wrong !== undefined) throw notAsWritten(wrong[0]);
  return entries;
}

/** SQLite writes a damaged number column that it takes for JSON without quotes, so the text may be invalid JSON. */
function parsePage(json: string): readonly PageEntry[] {
  try {
    return JSON.parse(json) as PageEntry[];
  } catch {
    throw damage(eventsFormat, 'a row of the log does not hold an event');
  }
}

/**
 * Decodes the events of a page and removes the prefix of their streams; leaves out streams without it.
 * @throws StoreDamaged when a row differs from the written one
 */
export function decodePage(
  entries: readonly PageEntry[],
  contents: Buffer,
  streamPrefix: string,
): readonly LogEvent[] {
  let at = 0;
  for (const [sequence, revision, checksum, length] of entries) {
    const content = contents.subarray(at, at + length);
    if (eventChecksum(content, sequence, revision) !== checksum) throw notAsWritten(sequence);
    at += length + 1;
  }
  // The checksums prove that `encodeContent` wrote these contents.
  const parsed = JSON.parse(`[${contents.toString()}]`) as readonly StoredContent[];
  return parsed.flatMap((stored, index): LogEvent | [] => {
    const [sequence, revision] = entries[index] as PageEntry;
    return toLogEvent(stored, sequence, BigInt(revision), streamPrefix) ?? [];
  });
}

/** Decodes an event that this process has just written; null where its stream lacks the prefix. */
export function decodeWritten(
  content: string,
  sequence: number,
  revision: bigint,
  streamPrefix: string,
): LogEvent | null {
  return toLogEvent(JSON.parse(content) as StoredContent, sequence, revision, streamPrefix);
}

function toLogEvent(
  { stream, recorded_at, id, type, metadata, data }: StoredContent,
  sequence: number,
  revision: bigint,
  streamPrefix: string,
): LogEvent | null {
  if (!stream.startsWith(streamPrefix)) return null;
  return {
    ...{ id, type, data, metadata, revision },
    stream: stream.slice(streamPrefix.length),
    recordedAt: new Date(recorded_at),
    position: positionOf(sequence),
  };
}

function decodeContent(
  content: Buffer,
  row: { readonly sequence: number; readonly revision: number; readonly checksum: number },
): StoredContent {
  const { sequence, revision, checksum } = row;
  if (eventChecksum(content, sequence, revision) !== checksum) throw notAsWritten(sequence);
  // The checksum proves that `encodeContent` wrote this content.
  return JSON.parse(content.toString()) as StoredContent;
}

function notAsWritten(sequence: number | bigint): StoreDamaged {
  return damage(eventsFormat, `the event at sequence ${sequence} differs from the one that was written`);
}

/** Returns the CRC-32 of the log's own row. */
export function logChecksum(logId: string, head: number, stateEnd: number): number {
  return crc32(`${logId}/${head}/${stateEnd}`);
}

/** Formats a sequence as a position of the port. 16 digits hold every safe integer. */
export function positionOf(sequence: bigint | number): Position {
  return String(sequence).padStart(16, '0');
}

/** Parses a position. @throws RangeError when the position is not one of this store */
export function sequenceOf(position: Position | null): number {
  if (position === null) return 0;
  if (!/^\d{16}$/.test(position)) throw new RangeError('the position is not one of an embedded log');
  return Number(position);
}
