/** An event as a client proposes it; data and metadata are bytes, as on the wire. */
export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event as it stands in the log. `position` is both its commit and its prepare position, as on servers from 20.10 on. */
export interface LogRecord extends ProposedEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly createdMs: number;
}

export type Expected = bigint | 'no-stream' | 'any' | 'stream-exists';

export type Verdict =
  | { readonly kind: 'written'; readonly revision: bigint; readonly position: bigint }
  | { readonly kind: 'wrong-expected-version'; readonly current: bigint | null }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'deleted' };

/** Default of `MaxAppendSize` (ClusterVNodeOptions of EventStoreDB). */
export const maxAppendSize = 1024 * 1024;

/** The log of a server, or of a whole cluster: several servers may share one. */
export interface ServerLog {
  readonly records: readonly LogRecord[];
  append(stream: string, expected: Expected, events: readonly ProposedEvent[]): Verdict;
  /** The stream's records in order, null when it was never written. */
  stream(name: string): readonly LogRecord[] | null;
  /** Deletes a stream for ever, as an operator might: later reads and appends are refused. */
  tombstone(stream: string): void;
  isTombstoned(stream: string): boolean;
  /** Takes all that a stream holds away for ever, as a scavenge does: what was there may still be read from. */
  scavenge(stream: string): void;
  isScavenged(position: bigint): boolean;
  /** Puts the log back to what it was when it had so many records, as a restored backup does. */
  restore(count: number): void;
  /** Makes appends whose ids are known already answer as if they were not, as after a scavenge. */
  forgetIds(): void;
  /** Calls back after every append that wrote something. Returns how to stop that. */
  onWritten(listener: () => void): () => void;
}

/**
 * A log in memory. The rule for repeated ids is that of EventStoreDB's `IndexWriter.CheckCommit`: with an exact
 * expected revision the ids at the following revisions are compared, and only equal ones count as repeated.
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
    tombstone: (stream) => {
      tombstones.add(stream);
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
        const left = (streams.get(record.stream) ?? []).filter(({ position }) => position < record.position);
        if (left.length === 0) streams.delete(record.stream);
        else streams.set(record.stream, left);
        end = end < record.position ? end : record.position;
      }
    },
    forgetIds: () => {
      comparesIds = false;
    },
    onWritten: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };

  function append(stream: string, expected: Expected, events: readonly ProposedEvent[]): Verdict {
    if (tombstones.has(stream)) return { kind: 'deleted' };
    if (sizeOf(events) > maxAppendSize) return { kind: 'too-large' };
    const existing = streams.get(stream) ?? [];
    const current = BigInt(existing.length) - 1n;
    const repeated = findRepeated(existing, expected, events);
    if (repeated !== null) return writtenAt(repeated);
    if (!isExpected(expected, current)) {
      return { kind: 'wrong-expected-version', current: existing.length === 0 ? null : current };
    }
    for (const event of events) write(stream, existing, event);
    streams.set(stream, existing);
    for (const listener of listeners) listener();
    return writtenAt(existing.at(-1) ?? { revision: current, position: end });
  }

  function write(stream: string, existing: LogRecord[], event: ProposedEvent): void {
    const record: LogRecord = {
      ...event,
      stream,
      revision: BigInt(existing.length),
      position: end,
      createdMs: now(),
    };
    // Positions are offsets in a file, so they are neither dense nor predictable from one event to the next.
    end += BigInt(90 + stream.length * 2 + event.data.length + event.metadata.length);
    existing.push(record);
    records.push(record);
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

function writtenAt({ revision, position }: Pick<LogRecord, 'revision' | 'position'>): Verdict {
  return { kind: 'written', revision, position };
}

function isExpected(expected: Expected, current: bigint): boolean {
  if (expected === 'any') return true;
  if (expected === 'stream-exists') return current >= 0n;
  return current === (expected === 'no-stream' ? -1n : expected);
}
