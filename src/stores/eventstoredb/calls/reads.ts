import { isJsonObject } from '../../../event-sourcing/ports/domain-event.js';
import {
  type AllStreamRecordedEvent,
  BACKWARDS,
  type Credentials,
  END,
  FORWARDS,
  NotLeaderError,
  type Position as LogPosition,
  type ReadStreamOptions,
  type RecordedEvent,
  START,
  StreamNotFoundError,
  type StreamingRead,
} from '@eventstore/db-client';
import { eventBytes } from '../../../event-sourcing/feeding/read-log.js';
import type { Client } from '../client.js';
import type { EventMetadata, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';

/**
 * Begins the type of an unreadable record. No codec knows it, so a view quarantines the stream and reports the position
 * (src/event-sourcing/feeding/README.md#undecodable-events). A schema check would come too late, because an upcaster sees the data first.
 */
const unreadableTypePrefix = 'unreadable:';

const unreadableMetadata: EventMetadata = {
  command_id: '',
  causation_id: '',
  correlation_id: '',
  actor: '',
  time: '',
};

/** Turns a record of a stream of this service into a stored event; `stream` is its name without the prefix. */
export function toStoredEvent(record: RecordedEvent, stream: string): StoredEvent {
  const { id, revision, created: recordedAt } = record;
  const data: unknown = record.isJson ? record.data : null;
  const metadata: unknown = record.metadata;
  // The client returns the raw text where it cannot parse JSON.
  if (isJsonObject(data) && isEventMetadata(metadata)) {
    return { id, stream, revision, type: record.type, data, metadata, recordedAt };
  }
  return {
    id,
    stream,
    revision,
    type: `${unreadableTypePrefix}${record.type}`,
    data: { reason: isJsonObject(data) ? 'metadata of another kind' : 'data that is not a JSON object' },
    metadata: isEventMetadata(metadata) ? metadata : unreadableMetadata,
    recordedAt,
  };
}

function isEventMetadata(value: unknown): value is EventMetadata {
  return (
    isJsonObject(value) &&
    typeof value['command_id'] === 'string' &&
    typeof value['causation_id'] === 'string' &&
    typeof value['correlation_id'] === 'string' &&
    typeof value['actor'] === 'string' &&
    typeof value['time'] === 'string'
  );
}

/** Revisions are 64-bit on the wire. */
const revisionMax = 2n ** 63n - 1n;

/** Reads records as the client returns them; the signal ends a read. Errors are the client's own. */
export interface Reads {
  /** Reads a stream forwards from a revision. The server calls a soft-deleted stream absent, too. */
  stream(name: string, page: StreamPage, signal: AbortSignal): Promise<Found<RecordedEvent> | 'absent'>;
  /** Reads the last records of a stream, the last one first; empty for an absent stream. */
  streamBackwards(name: string, limit: number, signal: AbortSignal): Promise<readonly RecordedEvent[]>;
  /** Reads the whole log, beginning with the record at `from` (forwards) or with the one before it (backwards). */
  all(page: AllPage, signal: AbortSignal): Promise<Found<AllStreamRecordedEvent>>;
}

/** The records of a read, in its order. */
export interface Found<Record> {
  readonly records: readonly Record[];
  /** The sizes of the records in bytes, as `eventBytes` measures them. */
  readonly sizes: readonly number[];
  /** Whether the server has sent all records that the read asked for. A read within a bound may stop before. */
  readonly ended: boolean;
}

/** A read ends after the record with which it reaches these bytes, or when it has lasted this long. */
export interface Bound {
  readonly bytes: number;
  readonly ms: number;
}

interface StreamPage {
  readonly from: bigint;
  readonly limit: number;
  readonly within?: Bound;
}

interface AllPage {
  readonly from: LogPosition | 'start' | 'end';
  readonly limit: number;
  readonly direction: 'forwards' | 'backwards';
  readonly within?: Bound;
}

interface Resolved<Record> {
  readonly event?: Record;
  readonly link?: Record;
}

export function makeReads(client: Client, credentials: Credentials): Reads {
  // Only the leader has every acknowledged append for certain. A follower refuses and sends the leader's address.
  const options = { credentials, requiresLeader: true };
  const heard = (): void => client.heard();
  return {
    stream: async (name, { from, limit, within }, signal) => {
      // The client throws for a number beyond its wire format, and no event has this revision.
      if (from > revisionMax) return { records: [], sizes: [], ended: true };
      const page: ReadStreamOptions = { fromRevision: from, maxCount: limit, direction: FORWARDS };
      return readStream(name, page, { signal, within });
    },
    streamBackwards: async (name, limit, signal) => {
      const page: ReadStreamOptions = { fromRevision: END, maxCount: limit, direction: BACKWARDS };
      const found = await readStream(name, page, { signal });
      return found === 'absent' ? [] : found.records;
    },
    all: ({ from, limit, direction, within }, signal) => {
      const isForwards = direction === 'forwards';
      // A read forwards begins with the record at the position, which the caller knows. A page must lead beyond it.
      const least = isForwards && from !== 'start' ? 2 : 1;
      return atLeader(
        () =>
          collect(
            client.readAll({
              ...options,
              fromPosition: from === 'start' ? START : from === 'end' ? END : from,
              maxCount: limit,
              direction: isForwards ? FORWARDS : BACKWARDS,
            }),
            { signal, within, least, heard },
          ),
        signal,
      );
    },
  };

  function readStream(
    name: string,
    page: ReadStreamOptions,
    { signal, within }: { readonly signal: AbortSignal; readonly within?: Bound | undefined },
  ): Promise<Found<RecordedEvent> | 'absent'> {
    return atLeader(async () => {
      try {
        const reading = client.readStream(name, { ...options, ...page });
        return await collect(reading, { signal, within, least: 1, heard });
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

/**
 * Collects the records of a read until the server ends it, or until it has reached its bound and holds `least` records.
 * Attaches the listeners before any `await`, because an error event without a listener ends the process.
 */
function collect<Record extends RecordedEvent>(
  reading: StreamingRead<Resolved<Record>>,
  {
    signal,
    within,
    least,
    heard,
  }: {
    readonly signal: AbortSignal;
    readonly within: Bound | undefined;
    readonly least: number;
    readonly heard: () => void;
  },
): Promise<Found<Record>> {
  return new Promise((resolve, reject) => {
    const records: Record[] = [];
    const sizes: number[] = [];
    let bytes = 0;
    let isLate = false;
    let isOver = false;
    const late = within && setTimeout(stopLate, within.ms);
    const finish = (ended: boolean): void => {
      isOver = true;
      clearTimeout(late);
      resolve({ records, sizes, ended });
    };
    signal.addEventListener('abort', onAbort, { once: true });
    reading.on('data', ({ event, link }: Resolved<Record>) => {
      heard();
      const record = event ?? link;
      if (isOver || record === undefined) return;
      const size = eventBytes(record);
      records.push(record);
      sizes.push(size);
      bytes += size;
      stopIfEnough();
    });
    reading.on('error', (error) => {
      clearTimeout(late);
      reject(error);
    });
    reading.on('end', () => {
      // A read that is given up ends too, and then no node has answered it.
      if (!signal.aborted) heard();
      finish(true);
    });
    if (signal.aborted) onAbort();

    function stopLate(): void {
      isLate = true;
      stopIfEnough();
    }

    function stopIfEnough(): void {
      if (within === undefined || records.length < least || (bytes < within.bytes && !isLate)) return;
      finish(false);
      cancel();
    }

    function onAbort(): void {
      clearTimeout(late);
      cancel();
      reject(signal.reason as Error);
    }

    function cancel(): void {
      // A stream that was never opened rejects the cancellation; there is nothing to cancel then.
      reading.cancel().catch(() => undefined);
    }
  });
}
