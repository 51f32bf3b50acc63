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
  type RecordedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import type { Client } from './client.js';

/** Revisions are 64-bit on the wire. */
const revisionMax = 2n ** 63n - 1n;

/** Raw reads: records as the client gives them, ended by the signal. Failures are the client's own errors. */
export interface Reads {
  /** Forwards from a revision; empty for an absent stream. */
  stream(name: string, page: StreamPage, signal: AbortSignal): Promise<RecordedEvent[]>;
  /** The whole log, beginning with the record at `from` itself (forwards) or before it (backwards). */
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
  // Only the leader is sure to have every acknowledged append; a follower answers with the leader's address.
  const options = { credentials, requiresLeader: true };
  return {
    stream: (name, { from, limit }, signal) =>
      atLeader(async () => {
        // The client refuses what does not fit its wire format; nothing stands there.
        if (from > revisionMax) return [];
        const reading = client.readStream(name, {
          ...options,
          fromRevision: from,
          maxCount: limit,
          direction: FORWARDS,
        });
        try {
          return await collect(reading, signal);
        } catch (error) {
          if (error instanceof StreamNotFoundError) return [];
          throw error;
        }
      }, signal),
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
}

/** A follower's refusal makes the client turn to the leader, so the same read is asked once more. */
async function atLeader<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof NotLeaderError) || signal.aborted) throw error;
    return read();
  }
}

/**
 * Gathers a read to its end. Listeners are attached before anything is awaited, for the client reports errors by
 * events, and one that nobody listens to ends the process.
 */
function collect<Record>(reading: StreamingRead<Resolved<Record>>, signal: AbortSignal): Promise<Record[]> {
  return new Promise((resolve, reject) => {
    const found: Record[] = [];
    const onAbort = (): void => {
      // The stream may never have been opened; then there is nothing to cancel.
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
