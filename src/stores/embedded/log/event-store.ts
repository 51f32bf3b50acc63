import { setImmediate } from 'node:timers/promises';
import { makeLru } from '../../../kit/lru.js';
import type { Clock, Random } from '../../../kit/time/clock.js';
import type { NewEvent, Position, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
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
import { type EmbeddedContext, type OpenFile, openFile } from '../files/open-file.js';
import { type EventReader, makeEventReader } from './event-reader.js';
import { decodeWritten, encodeContent, positionOf, sequenceOf } from './event-rows.js';
import type { AppendReply, AppendRequest } from './event-writer.js';
import { eventsFormat } from '../files/formats.js';

/** Gathers commits before a read. Commands mostly write their documents in this time, so projectors have no work. */
const gatherMs = 20;
/** Reads take no time here. Small pages keep the events of all followers in the young part of the heap. */
const pageSize = 200;

/** An open events.db. Stores with different prefixes can share it. */
export interface EventLog extends OpenFile<AppendRequest, AppendReply, EventReader> {
  readonly logId: string;
  /** The version of state.db that the log had noted when it was opened. */
  readonly stateEnd: number;
  /** Reads a stream without the file, where this process knows that no event follows: no other process appends. */
  readStream: EventReader['readStream'];
  /** Reads the log as `EventReader` does. */
  readLog: EventReader['readLog'];
  /** Adds a listener that receives the appends of every commit, in their order. */
  onGrown(listener: (appends: readonly Added[]) => void): void;
}

/** An append that a commit has added to the log. */
interface Added {
  readonly stream: string;
  /** The revision and the sequence before its first event. */
  readonly revision: bigint;
  readonly sequence: number;
  readonly contents: readonly string[];
}

/** The streams whose end is known. A name has about 60 characters. */
const knownEnds = 10_000;

/** Opens events.db. @throws StoreDamaged, StoreUnavailable */
export async function openEventLog(context: EmbeddedContext): Promise<EventLog> {
  const listeners: ((appends: readonly Added[]) => void)[] = [];
  /** The revision after which a stream has no event, by stream. */
  const ends = makeLru<number>(knownEnds);
  const file = await openFile<AppendRequest, AppendReply, EventReader>(context, eventsFormat, {
    makeQueries: makeEventReader,
    onSettled: (requests, replies) => {
      if (replies === null) ends.clear();
      const appends = (replies ?? []).flatMap((reply, index) => appendsOf(requests[index], reply));
      // A repeated append is in the log already, and its stream may have grown since.
      const added = appends.filter(({ sequence }) => sequence >= settled);
      for (const { stream, revision, sequence, contents } of added) {
        ends.set(stream, Number(revision) + contents.length);
        settled = sequence + contents.length;
      }
      if (added.length === 0) return;
      file.queries.mustHold(settled);
      for (const listener of listeners) listener(added);
    },
  });
  const { logId, stateEnd } = file.queries;
  let settled = file.queries.head();
  return { ...file, logId, stateEnd, readStream, readLog, onGrown: (listener) => listeners.push(listener) };

  function readStream(stream: string, from: bigint, limit: number): StoredEvent[] {
    if (from > (ends.get(stream) ?? Infinity)) return [];
    const events = file.queries.readStream(stream, from, limit);
    if (events.length < limit) ends.set(stream, Number(from) + events.length - 1);
    return events;
  }

  function readLog(...options: Parameters<EventReader['readLog']>): ReturnType<EventReader['readLog']> {
    const page = file.queries.readLog(...options);
    // A commit may be in the file before its thread reports it. Who reads an event here must find it in its stream.
    if (page.end > settled) ends.clear();
    return page;
  }
}

/** Returns the appends of a request that the log contains now. */
function appendsOf(request: AppendRequest | null | undefined, reply: AppendReply): readonly Added[] {
  if (reply === null || request === null || request === undefined) return [];
  const [, last, further] = reply;
  const [stream, revision, next, ...idsAndContents] = request;
  const contents = idsAndContents.filter((_, index) => index % 2 === 1);
  const following = further === null ? [] : appendsOf(next, [0, further, null]);
  return [{ stream, revision, sequence: last - contents.length, contents }, ...following];
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
  /** The sequence up to which the feeder has received all events; null while it has no consumer. */
  let received: number | null = null;
  const onRest = (): void => {
    received = null;
  };
  const feeder = makeFeeder({ ...deps, readAll, onRest, gatherMs, pageSize });
  log.onGrown((appends) => {
    if (received !== null) for (const append of appends) received = follow(append, received);
  });

  return {
    shortLogMs: 0,
    logId: () => Promise.resolve(log.logId),
    read: (stream, { from = 0n, limit = 500 } = {}) =>
      answer(() => log.readStream(streamPrefix + stream, from, limit).map(withoutPrefix)),
    append,
    readAll,
    head: () => answer(() => toPosition(reader.head())),
    subscribe: (options) => {
      if (received === null) {
        received = reader.head();
        feeder.live(toPosition(received));
      }
      return feeder.subscribe(options);
    },
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

  async function readAll({ after, limit }: Parameters<EventStore['readAll']>[0]): Promise<LogPage> {
    const page = await answer(() => {
      const { events, end, atHead, bytes } = log.readLog(sequenceOf(after), limit, streamPrefix);
      return { events, cursor: toPosition(end), atHead, bytes };
    });
    // A read takes no turn of the event loop here, so a consumer far behind would hold up every request until the end of the log.
    if (!page.atHead) await setImmediate();
    return page;
  }

  /** Hands the events to the feeder, so that consumers at the end of the log need no read. Returns the last sequence. */
  function follow({ revision, sequence, contents }: Added, after: number): number {
    if (sequence < after) return after;
    // Where the outcome of an append is unknown, its events are read from the log.
    if (sequence > after) feeder.live(toPosition(sequence));
    for (const [index, content] of contents.entries()) {
      const [at, of] = [sequence + index + 1, revision + BigInt(index + 1)];
      feeder.receive({ position: positionOf(at), event: decodeWritten(content, at, of, streamPrefix) });
    }
    return sequence + contents.length;
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

function toPosition(sequence: number): Position | null {
  return sequence === 0 ? null : positionOf(sequence);
}
