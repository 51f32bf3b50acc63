import { type AllStreamRecordedEvent, type RecordedEvent, StreamDeletedError } from '@eventstore/db-client';
import { StreamDamaged } from '../../../event-sourcing/ports/errors.js';
import type { ExpectedRevision } from '../../../event-sourcing/ports/event-store.js';
import type { Bound, Found, Reads } from '../calls/reads.js';
import { makeLru } from '../../../kit/lru.js';

/** A stream that was forgotten costs one read more. */
const streamsMax = 10_000;

/**
 * The streams that this process has seen whole since it last lost a connection. Only while it has none, an operator can
 * change a stream without any trace in the process, whose caches may hold removed events.
 */
export function makeSeenWhole() {
  const seen = makeLru<number>(streamsMax);
  let losses = 0;
  return {
    /** Reports that a connection may have been lost. */
    lost: () => {
      losses += 1;
      seen.clear();
    },
    /** Begins a read of a stream from its start. Returns the function that notes its success. */
    reading: (name: string): (() => void) => {
      const before = losses;
      return () => {
        if (losses === before) seen.set(name, 1);
      };
    },
    /** Returns whether the stream needs a read before its next append is sent. */
    // Before the first loss, a process has seen all that it caches.
    isSuspect: (name: string) => losses > 0 && !seen.has(name),
  };
}

/** The metadata by which an operator or another program removes events from a stream. A soft delete sets `$tb`. */
const truncating = ['$maxCount', '$maxAge', '$tb'] as const;

export type WholeStreams = ReturnType<typeof makeWholeStreams>;

/** Makes reads that report removed events instead of returning a shorter history: src/stores/eventstoredb/README.md#whole-streams. */
export function makeWholeStreams(reads: Reads, prefix: string) {
  return {
    /**
     * Reads a stream of this service, without its prefix. Empty for an absent stream and after the last event. A read that
     * did not end has returned at least one event.
     * @throws StreamDamaged when the server has removed events that the read asks for
     */
    read: async (
      stream: string,
      page: { readonly from: bigint; readonly limit: number; readonly within?: Bound },
      signal: AbortSignal,
    ): Promise<Found<RecordedEvent>> => {
      const name = `${prefix}${stream}`;
      const found = await reads.stream(name, page, signal).catch((error: unknown) => {
        throw error instanceof StreamDeletedError ? deleted(stream, name) : error;
      });
      // A soft-deleted stream reads like an absent one. Only its metadata differs.
      if (found === 'absent') {
        await requireUntruncated(stream, page.from, signal);
        return { records: [], sizes: [], ended: true };
      }
      const { records } = found;
      if (records.length === 0 && page.from === 0n) throw removed(stream, name, 0n);
      const hole = records.findIndex((record, index) => record.revision !== page.from + BigInt(index));
      if (hole !== -1) throw removed(stream, name, page.from + BigInt(hole));
      return found;
    },
    /** @throws StreamDamaged when metadata of the stream remove events from it */
    requireUntruncated,
  };

  async function requireUntruncated(stream: string, from: bigint, signal: AbortSignal): Promise<void> {
    const name = `${prefix}${stream}`;
    const [last] = await reads.streamBackwards(`$$${name}`, 1, signal);
    if (last !== undefined && truncates(last)) throw removed(stream, name, from);
  }
}

/** Checks the revision after an append. @throws StreamDamaged when the stream had events that the server hides */
export function checkAppended(
  {
    stream,
    name,
    expected,
  }: { readonly stream: string; readonly name: string; readonly expected: ExpectedRevision },
  count: number,
  revision: bigint,
): void {
  const first = expected === 'no-stream' ? 0n : expected + 1n;
  if (revision !== first + BigInt(count) - 1n) throw removed(stream, name, first);
}

/** Returns the damage that a record of the log shows: a deletion, or metadata that removes events of our streams. */
export function damageIn(
  record: Pick<AllStreamRecordedEvent, 'streamId' | 'type' | 'isJson' | 'data'>,
  prefix: string,
): StreamDamaged | null {
  const { streamId, type } = record;
  if (streamId.startsWith(prefix) && type === '$streamDeleted') {
    return deleted(streamId.slice(prefix.length), streamId);
  }
  if (!streamId.startsWith(`$$${prefix}`) || !truncates(record)) return null;
  const name = streamId.slice(2);
  return new StreamDamaged(
    name.slice(prefix.length),
    `the metadata of stream ${name} on the EventStoreDB server remove events, which this service never does; ${cure}`,
  );
}

export function deleted(stream: string, name: string): StreamDamaged {
  return new StreamDamaged(
    stream,
    `stream ${name} was deleted on the EventStoreDB server, which this service never does; ${cure}`,
  );
}

const cure =
  'remove $maxCount, $maxAge and $tb from its metadata, set $tb to 0 where the server writes it again, or restore the log from a backup when it was scavenged since';

function removed(stream: string, name: string, revision: bigint): StreamDamaged {
  return new StreamDamaged(
    stream,
    `stream ${name} on the EventStoreDB server lacks the event at revision ${revision}: it was truncated or deleted, ` +
      `which this service never does; ${cure}`,
  );
}

/** Tells whether a record of a metadata stream sets one of the limits. */
function truncates({ isJson, data }: Pick<RecordedEvent, 'isJson' | 'data'>): boolean {
  const fields: unknown = data;
  // The metadata may be the JSON text `null`, which any tool can write.
  if (!isJson || typeof fields !== 'object' || fields === null) return false;
  return truncating.some((key) => Object.hasOwn(fields, key));
}
