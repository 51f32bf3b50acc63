import { crc32 } from 'node:zlib';
import type {
  JsonObject,
  EventMetadata,
  LogEvent,
  NewEvent,
  Position,
  StoredEvent,
} from '../../event-sourcing/domain-event.js';
import type { StoreDamaged } from '../../event-sourcing/errors.js';
import { damage } from './failures.js';
import { eventsFormat } from './formats.js';

/** An event's columns; queries select them as `eventColumns`. */
export type EventRow = readonly [sequence: bigint, revision: bigint, content: Buffer, checksum: bigint];
export const eventColumns = 'sequence, revision, CAST(content AS BLOB), checksum';

/** The stored form of an event: the names and their spelling are the storage format. */
interface StoredContent {
  readonly stream: string;
  readonly recorded_at: string;
  readonly id: string;
  readonly type: string;
  readonly metadata: EventMetadata;
  readonly data: JsonObject;
}

/** Writes an event as JSON, from parts that are JSON already where they can be large. */
export function encodeContent(
  event: Pick<NewEvent, 'id' | 'type'>,
  json: { readonly stream: string; readonly metadata: string; readonly data: string },
  recordedAt: string,
): string {
  return `{"stream":${json.stream},"recorded_at":"${recordedAt}","id":${JSON.stringify(event.id)},"type":${JSON.stringify(
    event.type,
  )},"metadata":${json.metadata},"data":${json.data}}`;
}

/** CRC-32 (ISO 3309) of an event's content, mixed with where it stands: its revision and its sequence in the log. */
export function eventChecksum(content: string | Buffer, sequence: number, revision: number): number {
  return (crc32(content, revision >>> 0) ^ sequence) >>> 0;
}

/** Reads an event from its row; `stream` still has the prefix. @throws StoreDamaged when the row is not what was written */
export function decodeRow([sequence, revision, content, checksum]: EventRow): StoredEvent {
  // A damaged row may hold nothing, or a number of another kind, where the schema says otherwise.
  if ((content as Buffer | null) === null || typeof revision !== 'bigint') throw notAsWritten(sequence);
  const place = { sequence: Number(sequence), revision: Number(revision), checksum: Number(checksum) };
  const { stream, recorded_at, id, type, metadata, data } = decodeContent(content, place);
  return { id, type, data, metadata, stream, revision, recordedAt: new Date(recorded_at) };
}

/** An event's columns in a page of the log: the contents of all follow one another in bytes. */
export type PageEntry = readonly [sequence: number, revision: number, checksum: number, length: number];

/** What a page's rows are read as, for a value each makes a page several times dearer (a buffer of its own most of all). */
export const pageColumns = `CAST(json_group_array(json_array(sequence, revision, checksum, octet_length(content))) AS BLOB),
  CAST(group_concat(content, '') AS BLOB)`;

/** @throws StoreDamaged when a column does not hold what its table says */
export function parseEntries(json: Buffer | undefined): readonly PageEntry[] {
  const entries = parsePage(json?.toString() ?? '[]');
  const wrong = entries.find((entry) => !entry.every(Number.isSafeInteger));
  if (wrong !== undefined) throw notAsWritten(wrong[0]);
  return entries;
}

/** SQLite writes text that stands where a number should without quotes if its type says that it is JSON: nothing is sure here. */
function parsePage(json: string): readonly PageEntry[] {
  try {
    return JSON.parse(json) as PageEntry[];
  } catch {
    throw damage(eventsFormat, 'a row of the log does not hold what was written');
  }
}

/**
 * Reads an event of a page of the log.
 * @returns null when the stream has not this prefix; the event's `stream` is without it
 * @throws StoreDamaged when it is not what was written
 */
export function decodeEntry(
  [sequence, revision, checksum]: PageEntry,
  content: Buffer,
  streamPrefix: string,
): LogEvent | null {
  const { stream, recorded_at, id, type, metadata, data } = decodeContent(content, {
    sequence,
    revision,
    checksum,
  });
  if (!stream.startsWith(streamPrefix)) return null;
  return {
    id,
    type,
    data,
    metadata,
    stream: stream.slice(streamPrefix.length),
    revision: BigInt(revision),
    recordedAt: new Date(recorded_at),
    position: positionOf(sequence),
  };
}

function decodeContent(
  content: Buffer,
  place: { readonly sequence: number; readonly revision: number; readonly checksum: number },
): StoredContent {
  const { sequence, revision, checksum } = place;
  if (eventChecksum(content, sequence, revision) !== checksum) throw notAsWritten(sequence);
  // The checksum vouches that this is what `encodeContent` wrote.
  return JSON.parse(content.toString()) as StoredContent;
}

function notAsWritten(sequence: number | bigint): StoreDamaged {
  return damage(eventsFormat, `the event at sequence ${sequence} is not the one that was written`);
}

/** CRC-32 of the log's own row. */
export function logChecksum(logId: string, head: number): number {
  return crc32(`${logId}/${head}`);
}

/** A sequence as the port's position: 16 digits hold every safe integer. */
export function positionOf(sequence: bigint | number): Position {
  return String(sequence).padStart(16, '0');
}

/** @throws RangeError when the position is not one of this store */
export function sequenceOf(position: Position | null): number {
  if (position === null) return 0;
  if (!/^\d{16}$/.test(position)) throw new RangeError('the position is not one of an embedded log');
  return Number(position);
}
