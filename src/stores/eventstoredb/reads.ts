import {
  BACKWARDS,
  END,
  FORWARDS,
  NotLeaderError,
  START,
  StreamNotFoundError,
  type AllStreamRecordedEvent,
  type Credentials,
  type Position as LogPosition,
  type ReadStreamOptions,
  type RecordedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import type { Client } from './client.js';

/** Revisions are 64-bit on the wire. */
const revisionMax = 2n ** 63n - 1n;

/** Reads records as the client returns them; the signal ends a read. Errors are the client's own. */
export interface Reads {
  /** Reads a stream forwards from a revision. The server calls a soft-deleted stream absent, too. */
  stream(name: string, page: StreamPage, signal: AbortSignal): Promise<RecordedEvent[] | 'absent'>;
  /** Reads the last records of a stream, the last one first; empty for an absent stream. */
  streamBackwards(name: string, limit: number, signal: AbortSignal): Promise<RecordedEvent[]>;
  /** Reads the whole log, beginning with the record at `from` (forwards) or with the one before it (backwards). */
  all(page: AllPage, signal: AbortSignal): Promise<AllStreamRecordedEvent[]>;
}

interface StreamPage {
  readonly from: bigint;
  readonly limit: number;
}

interface AllPage {
  readonly from: LogPosition | 'start' | 'end';
  readonly limit: number;
  readonly direction: 'forwards' | 'backwards';
}

interface Resolved<Record> {
  readonly event?: Record;
  readonly link?: Record;
}

export function makeReads(client: Client, credentials: Credentials): Reads {
  // Only the leader has every acknowledged append for certain. A follower refuses and sends the leader's address.
  const options = { credentials, requiresLeader: true };
  return {
    stream: async (name, { from, limit }, signal) => {
      // The client throws for a number beyond its wire format, and no event has this revision.
      if (from > revisionMax) return [];
      return readStream(name, { fromRevision: from, maxCount: limit, direction: FORWARDS }, signal);
    },
    streamBackwards: async (name, limit, signal) => {
      const found = await readStream(
        name,
        { fromRevision: END, maxCount: limit, direction: BACKWARDS },
        signal,
      );
      return found === 'absent' ? [] : found;
    },
    all: ({ from, limit, direction }, signal) =>
      atLeader(
        () =>
          collect(
            client.readAll({
              ...options,
              fromPosition: from === 'start' ? START : from === 'end' ? END : from,
              maxCount: limit,
              direction: direction === 'forwards' ? FORWARDS : BACKWARDS,
            }),
            signal,
          ),
        signal,
      ),
  };

  function readStream(
    name: string,
    page: ReadStreamOptions,
    signal: AbortSignal,
  ): Promise<RecordedEvent[] | 'absent'> {
    return atLeader(async () => {
      try {
        return await collect(client.readStream(name, { ...options, ...page }), signal);
      } catch (error) {
        if (error instanceof StreamNotFoundError) return 'absent';
        throw error;
      }
    }, signal);
  }
}

/** Runs a read, and retries it once when a follower refuses it. The refusal makes the client connect to the leader. */
async function atLeader<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof NotLeaderError) || signal.aborted) throw error;
    return read();
  }
}

/** Attaches the listeners before any `await`, because an error event without a listener ends the process. */
function collect<Record>(reading: StreamingRead<Resolved<Record>>, signal: AbortSignal): Promise<Record[]> {
  return new Promise((resolve, reject) => {
    const found: Record[] = [];
    const onAbort = (): void => {
      // A stream that was never opened rejects the cancellation; there is nothing to cancel then.
      reading.cancel().catch(() => undefined);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    reading.on('data', ({ event, link }: Resolved<Record>) => {
      const record = event ?? link;
      if (record !== undefined) found.push(record);
    });
    reading.on('error', reject);
    reading.on('end', () => {
      resolve(found);
    });
    if (signal.aborted) onAbort();
  });
}
