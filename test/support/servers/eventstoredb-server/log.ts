import { randomUUID } from 'node:crypto';

/** An event as a client proposes it. Data and metadata are bytes, as on the wire. */
export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event in the log. `position` is both its commit and its prepare position, as on servers from 20.10 on. */
export interface LogRecord extends ProposedEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly createdMs: number;
}

export type Expected = bigint | 'no-stream' | 'any' | 'stream-exists';

export type Verdict =
  | {
      readonly kind: 'written';
      readonly revision: bigint;
      readonly position: bigint;
      /** Whether an earlier append had written these events. */
      readonly repeated: boolean;
    }
  | { readonly kind: 'wrong-expected-version'; readonly current: bigint | null }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'deleted' };

/** The default of `MaxAppendSize` (ClusterVNodeOptions of EventStoreDB), in bytes. */
export const maxAppendSize = 1024 * 1024;

interface StreamMetadata {
  readonly $maxCount?: number;
  readonly $maxAge?: number;
  readonly $tb?: number;
}

/** The `$tb` of a soft-deleted stream: `EventNumber.DeletedStream`. JSON numbers lose its last digits, so text holds it. */
const softDeleted = '{"$tb":9223372036854775807}';

/** The type of the record that a tombstone writes, and its revision: `EventNumber.DeletedStream`. */
const tombstoned = { type: '$streamDeleted', revision: 2n ** 63n - 1n };

/** The log of a server or of a whole cluster; several servers may share one. */
export interface ServerLog {
  readonly records: readonly LogRecord[];
  append(stream: string, expected: Expected, events: readonly ProposedEvent[]): Verdict;
  /** Returns the stream's records in order, null when it was never written. */
  stream(name: string): readonly LogRecord[] | null;
  /** Returns the records that a read of the stream may return; null when the server calls it absent. */
  visible(name: string): readonly LogRecord[] | null;
  /** Replaces the metadata of a stream (`$maxCount`, `$maxAge` in seconds, `$tb`), as an operator might. */
  setMetadata(stream: string, metadata: StreamMetadata): void;
  /** Hides a stream until the next append, which keeps the earlier events hidden. */
  softDelete(stream: string): void;
  /**
   * Deletes a stream for ever, as an operator might: the server then refuses reads and appends. The log has a record of
   * it, which no read of the stream returns.
   */
  tombstone(stream: string): void;
  isTombstoned(stream: string): boolean;
  /** Removes all records of a stream for ever, as a scavenge does. A read may still begin at their positions. */
  scavenge(stream: string): void;
  isScavenged(position: bigint): boolean;
  /** Restores the log to its first `count` records, as a backup does. */
  restore(count: number): void;
  /** Replaces the whole log by that of another server. */
  become(other: Pick<ServerLog, 'records'>): void;
  /** Makes the server forget its known ids, as after a scavenge. */
  forgetIds(): void;
  /** Adds a listener that runs after every append that wrote events. Returns the function that removes it. */
  onWritten(listener: () => void): () => void;
}

/**
 * Makes a log in memory. It treats repeated ids as EventStoreDB's `IndexWriter.CheckCommit` does: with an exact
 * expected revision it compares the ids at the following revisions, and only equal ids count as repeated.
 */
export function makeServerLog(now: () => number = Date.now): ServerLog {
  const records: LogRecord[] = [];
  const streams = new Map<string, LogRecord[]>();
  const tombstones = new Set<string>();
  const scavenged = new Set<bigint>();
  const listeners = new Set<() => void>();
  let comparesIds = true;
  let end = 0n;

  return {
    records,
    append,
    stream: (name) => streams.get(name) ?? null,
    visible,
    setMetadata: (stream, metadata) => writeMetadata(stream, JSON.stringify(metadata)),
    softDelete: (stream) => writeMetadata(stream, softDeleted),
    tombstone: (stream) => {
      const record = { ...tombstoned, contentType: 'application/octet-stream' };
      add({ ...record, id: randomUUID(), data: Buffer.alloc(0), metadata: Buffer.alloc(0) }, stream);
      tombstones.add(stream);
      for (const listener of listeners) listener();
    },
    isTombstoned: (stream) => tombstones.has(stream),
    scavenge: (stream) => {
      for (const record of streams.get(stream) ?? []) {
        scavenged.add(record.position);
        records.splice(records.indexOf(record), 1);
      }
      streams.delete(stream);
    },
    isScavenged: (position) => scavenged.has(position),
    restore: (count) => {
      for (const record of records.splice(count)) {
        if (record.type === tombstoned.type) tombstones.delete(record.stream);
        const left = (streams.get(record.stream) ?? []).filter(({ position }) => position < record.position);
        if (left.length === 0) streams.delete(record.stream);
        else streams.set(record.stream, left);
        end = end < record.position ? end : record.position;
      }
    },
    become: (other) => {
      records.splice(0, records.length, ...other.records);
      streams.clear();
      tombstones.clear();
      for (const record of records) {
        if (record.type === tombstoned.type) {
          tombstones.add(record.stream);
          continue;
        }
        const stream = streams.get(record.stream) ?? [];
        stream.push(record);
        streams.set(record.stream, stream);
      }
      end = (records.at(-1)?.position ?? -100n) + 100n;
    },
    forgetIds: () => {
      comparesIds = false;
    },
    onWritten: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  function append(stream: string, expected: Expected, events: readonly ProposedEvent[]): Verdict {
    if (tombstones.has(stream)) return { kind: 'deleted' };
    if (sizeOf(events) > maxAppendSize) return { kind: 'too-large' };
    const existing = streams.get(stream) ?? [];
    const current = BigInt(existing.length) - 1n;
    const repeated = findRepeated(existing, expected, events);
    if (repeated !== null) return writtenAt(repeated, true);
    const isDeleted = isSoftDeleted(stream);
    if (!isExpected(expected, current, isDeleted)) {
      return { kind: 'wrong-expected-version', current: existing.length === 0 ? null : current };
    }
    for (const event of events) write(stream, existing, event);
    streams.set(stream, existing);
    // An append brings a soft-deleted stream back, without the events before it (`SoftUndeleteStream`).
    if (isDeleted) writeMetadata(stream, JSON.stringify({ $tb: Number(current) + 1 }));
    for (const listener of listeners) listener();
    return writtenAt(existing.at(-1) ?? { revision: current, position: end }, false);
  }

  function writeMetadata(stream: string, json: string): void {
    append(`$$${stream}`, 'any', [
      {
        id: randomUUID(),
        type: '$metadata',
        contentType: 'application/json',
        data: Buffer.from(json),
        metadata: Buffer.from(''),
      },
    ]);
  }

  function metadataOf(stream: string): string {
    const last = streams.get(`$$${stream}`)?.at(-1);
    return last === undefined ? '{}' : Buffer.from(last.data).toString();
  }

  function isSoftDeleted(stream: string): boolean {
    return metadataOf(stream) === softDeleted;
  }

  function visible(name: string): readonly LogRecord[] | null {
    const all = streams.get(name);
    if (all === undefined || isSoftDeleted(name)) return null;
    const { $maxCount, $maxAge, $tb = 0 } = JSON.parse(metadataOf(name)) as StreamMetadata;
    const first = Math.max($tb, $maxCount === undefined ? 0 : all.length - $maxCount);
    const sinceMs = $maxAge === undefined ? 0 : now() - $maxAge * 1_000;
    return all.filter(({ revision, createdMs }) => revision >= BigInt(first) && createdMs >= sinceMs);
  }

  function write(stream: string, existing: LogRecord[], event: ProposedEvent): void {
    existing.push(add({ ...event, revision: BigInt(existing.length) }, stream));
  }

  function add(event: ProposedEvent & Pick<LogRecord, 'revision'>, stream: string): LogRecord {
    const record: LogRecord = { ...event, stream, position: end, createdMs: now() };
    // Positions are offsets in a file, so they are neither dense nor predictable.
    end += BigInt(90 + stream.length * 2 + event.data.length + event.metadata.length);
    records.push(record);
    return record;
  }

  function findRepeated(
    existing: readonly LogRecord[],
    expected: Expected,
    events: readonly ProposedEvent[],
  ): LogRecord | null {
    if (!comparesIds || expected === 'any' || expected === 'stream-exists' || events.length === 0)
      return null;
    const from = expected === 'no-stream' ? 0 : Number(expected) + 1;
    const found = existing.slice(from, from + events.length);
    const last = found.at(-1);
    const equal = found.length === events.length && found.every((record, i) => record.id === events[i]?.id);
    return equal ? (last ?? null) : null;
  }
}

function sizeOf(events: readonly ProposedEvent[]): number {
  return events.reduce((sum, event) => sum + event.data.length + event.metadata.length, 0);
}

function writtenAt(
  { revision, position }: Pick<LogRecord, 'revision' | 'position'>,
  repeated: boolean,
): Verdict {
  return { kind: 'written', revision, position, repeated };
}

function isExpected(expected: Expected, current: bigint, isDeleted: boolean): boolean {
  if (isDeleted && expected === 'no-stream') return true;
  if (expected === 'any') return true;
  if (expected === 'stream-exists') return current >= 0n;
  return current === (expected === 'no-stream' ? -1n : expected);
}
