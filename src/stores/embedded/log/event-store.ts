import type { Clock, Random } from '../../../kit/time/clock.js';
import type { NewEvent, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import { EventTooLarge, WrongExpectedRevision } from '../../../event-sourcing/ports/errors.js';
import {
  type AppendOptions,
  type EventStore,
  type ExpectedRevision,
  type FurtherAppend,
  type LogPage,
  maxAppendBytes,
  maxEventBytes,
} from '../../../event-sourcing/ports/event-store.js';
import { makeFeeder } from '../../../event-sourcing/feeding/feeder.js';
import type { EmbeddedContext } from '../files/context.js';
import { type EventReader, makeEventReader } from './event-reader.js';
import { encodeContent, positionOf, sequenceOf } from './event-rows.js';
import type { AppendReply, AppendRequest } from './event-writer.js';
import { eventsFormat } from '../files/formats.js';
import { type OpenFile, openFile } from '../files/open-file.js';

/** Gathers commits before a read. Commands mostly write their documents in this time, so projectors have no work. */
const gatherMs = 20;
/** Reads take no time here. Small pages keep the events of all followers in the young part of the heap. */
const pageSize = 200;

/** An open events.db. Stores with different prefixes can share it. */
export interface EventLog extends OpenFile<AppendRequest, AppendReply, EventReader> {
  readonly logId: string;
  /** The version of state.db that the log had noted when it was opened. */
  readonly stateEnd: number;
  /** Adds a listener that runs after every commit that added events. */
  onGrown(listener: () => void): void;
}

/** Opens events.db. @throws StoreDamaged, StoreUnavailable */
export async function openEventLog(context: EmbeddedContext): Promise<EventLog> {
  const listeners: (() => void)[] = [];
  const file = await openFile<AppendRequest, AppendReply, EventReader>(context, eventsFormat, {
    makeQueries: makeEventReader,
    onSettled: (_, replies) => {
      const sequences = (replies ?? []).flatMap((reply) => (reply === null ? [] : [reply[2] ?? reply[1]]));
      if (sequences.length === 0) return;
      file.queries.mustHold(Math.max(...sequences));
      for (const listener of listeners) listener();
    },
  });
  const { logId, stateEnd } = file.queries;
  return { ...file, logId, stateEnd, onGrown: (listener) => listeners.push(listener) };
}

/**
 * Makes the EventStore port over events.db. Reads are synchronous on this thread. Appends share transactions in the
 * file's writer thread. The store skips streams whose stored names do not begin with `deps.streamPrefix`.
 */
export function makeEmbeddedEventStore(deps: {
  readonly log: EventLog;
  readonly streamPrefix: string;
  readonly clock: Clock;
  readonly random: Random;
}): EventStore {
  const { log, streamPrefix, clock } = deps;
  const { queries: reader, writer, answer } = log;
  const feeder = makeFeeder({ ...deps, readAll, gatherMs, pageSize });
  log.onGrown(() => {
    feeder.wake();
  });

  return {
    shortLogMs: 0,
    logId: () => Promise.resolve(log.logId),
    read: (stream, { from = 0n, limit = 500 } = {}) =>
      answer(() => reader.readStream(streamPrefix + stream, from, limit).map(withoutPrefix)),
    append,
    readAll,
    head: () =>
      answer(() => {
        const head = reader.head();
        return head === 0 ? null : positionOf(head);
      }),
    subscribe: (options) => feeder.subscribe(options),
    close: log.close,
  };

  async function append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    { further }: AppendOptions = {},
  ): ReturnType<EventStore['append']> {
    if (events.length === 0) return null;
    const { request, bytes } = requestOf({ stream, expected, events });
    // Without further events the request is in the batch of this turn.
    const following = further === undefined ? null : await further();
    const next = following === null ? null : requestIfSmall(following);
    const [name, revision, , ...contents] = request;
    const reply = await writer.write(
      [name, revision, next?.request ?? null, ...contents],
      bytes + (next?.bytes ?? 0),
    );
    if (reply === null) throw new WrongExpectedRevision(stream, expected);
    if (reply[2] !== null) following?.written();
    return { revision: BigInt(reply[0]), position: positionOf(reply[1]) };
  }

  /** Leaves out what is too large. Its command appends it afterwards, and fails by itself. */
  function requestIfSmall(append: FurtherAppend): ReturnType<typeof requestOf> | null {
    try {
      return requestOf(append);
    } catch (error) {
      if (error instanceof EventTooLarge) return null;
      throw error;
    }
  }

  /** @throws EventTooLarge, WrongExpectedRevision */
  function requestOf({ stream, expected, events }: Omit<FurtherAppend, 'written'>): {
    readonly request: AppendRequest;
    readonly bytes: number;
  } {
    const { contents, bytes } = encode(streamPrefix + stream, events, clock.now().toISOString());
    // The file cannot hold this revision, so no stream has it.
    if (expected !== 'no-stream' && (expected < 0n || expected >= BigInt(Number.MAX_SAFE_INTEGER))) {
      throw new WrongExpectedRevision(stream, expected);
    }
    const revision = expected === 'no-stream' ? -1n : expected;
    return { request: [streamPrefix + stream, revision, null, ...contents], bytes };
  }

  function readAll({ after, limit }: Parameters<EventStore['readAll']>[0]): Promise<LogPage> {
    return answer(() => {
      const { events, end, atHead, bytes } = reader.readLog(sequenceOf(after), limit, streamPrefix);
      return { events, cursor: end === 0 ? null : positionOf(end), atHead, bytes };
    });
  }

  function withoutPrefix(event: StoredEvent): StoredEvent {
    return { ...event, stream: event.stream.slice(streamPrefix.length) };
  }
}

/** Encodes the ids and contents of an append's events into one flat list. @throws EventTooLarge */
function encode(
  stream: string,
  events: readonly NewEvent[],
  recordedAt: string,
): { readonly contents: readonly string[]; readonly bytes: number } {
  const streamJson = JSON.stringify(stream);
  const contents: string[] = [];
  let bytes = 0;
  for (const event of events) {
    const [data, metadata] = [JSON.stringify(event.data), JSON.stringify(event.metadata)];
    const size = Buffer.byteLength(data) + Buffer.byteLength(metadata);
    if (size > maxEventBytes) {
      throw new EventTooLarge(`an event of ${size} bytes; the limit is ${maxEventBytes}`);
    }
    bytes += size;
    contents.push(event.id, encodeContent(event, { stream: streamJson, metadata, data }, recordedAt));
  }
  if (bytes > maxAppendBytes) {
    throw new EventTooLarge(`an append of ${bytes} bytes; the limit is ${maxAppendBytes}`);
  }
  return { contents, bytes };
}
