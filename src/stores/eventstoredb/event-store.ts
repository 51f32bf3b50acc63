import { randomUUID } from 'node:crypto';
import type { AllStreamRecordedEvent } from '@eventstore/db-client';
import type { Clock, Random } from '../../kit/time/clock.js';
import type { LogEvent, Position, StoredEvent } from '../../event-sourcing/ports/domain-event.js';
import { StoreDamaged } from '../../event-sourcing/ports/errors.js';
import type { EventStore, LogPage } from '../../event-sourcing/ports/event-store.js';
import { makeFeeder } from '../../event-sourcing/feeding/feeder.js';
import { makeAppend } from './calls/appends.js';
import { makeCallGate, makeLimitedCalls } from './calls/calls.js';
import { makeClient } from './client.js';
import { parseConnectionString, type ConnectionPolicy } from './connection-string.js';
import { appendFailure, readFailure, unsentFailure } from './calls/failures.js';
import {
  CallAbandoned,
  CallTimedOut,
  type EventStoreDbLimits,
  checkSizes,
  eventStoreDbLimits,
  withinLimit,
} from './calls/limits.js';
import { makeLogGuard } from './same-log/log-guard.js';
import { logIdIn, logIdStream, makeLogId, makeLogStamp } from './same-log/log-id.js';
import { formatPosition, parsePosition } from './same-log/positions.js';
import { type Found, makeReads, toStoredEvent } from './calls/reads.js';
import { makeSameLog } from './same-log/same-log.js';
import { damageIn, makeSeenWhole, makeWholeStreams } from './same-log/whole-streams.js';
import { makeLiveSubscription } from './live-subscription.js';
import { makeVerifiedCalls } from './calls/verified-calls.js';

export interface EventStoreDbOptions {
  /** `kurrentdb://…`, `kurrentdb+discover://…`, `esdb://…` or `esdb+discover://…`. */
  readonly url: string;
  readonly streamPrefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<EventStoreDbLimits>;
  readonly policy?: ConnectionPolicy;
  /** Receives every failed read of the log before its retry. */
  readonly onRetry?: (error: Error, attempt: number) => void;
  /** Called after every read of the log that succeeded. */
  readonly onRead?: () => void;
  /** The sleep of the reader of the log, which may end early; by default that of the clock. */
  readonly readerSleep?: Clock['sleep'];
  /** Receives the reason each time the live subscription is lost and opened again, which is normal operation. */
  readonly onSubscriptionLost?: (reason: string) => void;
  /** Receives the error when the server has another log than before; the process must end with its message. */
  readonly onFatal?: (error: Error) => void;
  /** Receives the product and the version of the server, once a connection. */
  readonly onServer?: (server: { readonly product: string; readonly version: string }) => void;
  /** Receives the damage of one stream that the log shows, when a reader of the log passes it. */
  readonly onStreamDamaged?: (error: Error) => void;
}

/** Gathers events before they are taken. Commands mostly write their documents in this time, so projectors have no work. */
const gatherMs = 20;

/** A server without security ignores these. */
const anonymous = { username: 'anonymous', password: 'anonymous' };

/**
 * Opens the event store on EventStoreDB 21.10 or newer. It connects with the first call, so that a service can start
 * while the server is away. @throws Error with a sentence for every problem of the connection string
 */
export function openEventStoreDb(options: EventStoreDbOptions): EventStore {
  const { url, streamPrefix: prefix, clock, random, onRetry, onRead } = options;
  const limits = { ...eventStoreDbLimits, ...options.limits };
  const parsed = parseConnectionString(url, options.policy);
  if ('problems' in parsed) throw new Error(`the EventStoreDB URL ${parsed.problems.join('; it ')}`);
  const client = makeClient(parsed.settings, limits.callMs);
  const credentials = parsed.settings.credentials ?? anonymous;
  const bounded = <T>(run: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const pastTime = client.watchForSilence();
    return withinLimit({ ms: limits.callMs, signal }, run).catch((error: unknown) => {
      if (error instanceof CallTimedOut) pastTime();
      throw error;
    });
  };
  const calls = makeLimitedCalls(bounded);
  const readGate = makeCallGate(limits.readsMax, limits.permitMs);
  const appendGate = makeCallGate(limits.appendsMax, limits.permitMs);
  const reads = makeReads(client, credentials);
  // Half of the time limit leaves the other half for a first record that is large or late.
  const within = { bytes: limits.pageBytes, ms: limits.callMs / 2 };
  const streams = makeWholeStreams(reads, prefix);
  const sameLog = makeSameLog({ clock, shortLogMs: limits.shortLogMs, isOurs });
  const guard = makeLogGuard({
    reads,
    storedLogId: async (signal) =>
      logIdIn((await readStream(logIdStream, { from: 0n, limit: 1 }, signal)).events),
    clock,
    random,
    withinLimit: bounded,
    shortLogMs: limits.shortLogMs,
    onFatal: (error) => options.onFatal?.(error),
  });
  const seenWhole = makeSeenWhole();
  const suspect = (): void => {
    seenWhole.lost();
    guard.suspect();
  };
  const appendCalls = makeVerifiedCalls(client, {
    credentials,
    guard: { verify: (signal) => guard.verify(signal), suspect },
    probed: { name: `${prefix}${logIdStream}`, makeEvent: () => makeLogStamp(randomUUID(), clock.now()) },
    withinLimit: bounded,
  });
  const appendOnce = makeAppend(reads, streams);

  const store: EventStore = {
    shortLogMs: limits.shortLogMs,
    logId: async () => {
      const id = await logId();
      guard.identified(id);
      return id;
    },
    read: async (stream, { from = 0n, limit = 500 } = {}) => {
      const found: StoredEvent[] = [];
      // Large events take several calls, each with its time limit.
      while (found.length < limit) {
        const rest = { from: from + BigInt(found.length), limit: limit - found.length };
        const { events, ended } = await calls.run({
          failure: failedRead,
          gate: readGate,
          run: (ending) => readStream(stream, rest, ending),
        });
        found.push(...events);
        if (ended) break;
      }
      return found;
    },
    append: async (stream, expected, events) => {
      const last = events.at(-1);
      if (last === undefined) return null;
      checkSizes(stream, events);
      const name = `${prefix}${stream}`;
      let sent = false;
      const appended = await calls.run({
        failure: (error) => (sent ? appendFailure(error) : unsentFailure(error)),
        gate: appendGate,
        run: async (ending) => {
          const call = await appendCalls.open();
          // An operator may have removed events while the connection was lost. The check of the revision would not show it.
          if (expected !== 'no-stream' && seenWhole.isSuspect(name))
            await readStream(stream, { from: 0n, limit: 1 }, ending);
          // The time limit may have ended the append during the wait for the call.
          ending.throwIfAborted();
          sent = true;
          return appendOnce(call, { stream, name, expected }, events, ending);
        },
      });
      guard.holds({ name, id: last.id, ...appended });
      feeder.wake();
      return appended;
    },
    readAll: async ({ after, limit, signal }) => {
      const from = after === null ? null : parsePosition(after);
      // A read begins with the record at the position itself, so it asks for one record more.
      const asked = from === null ? limit : limit + 1;
      const found = await calls.run({
        failure: failedRead,
        signal,
        run: (ending) =>
          reads.all({ from: from ?? 'start', limit: asked, direction: 'forwards', within }, ending),
      });
      sameLog.check(after, found.records);
      const page = toPage(found, after, { limit, asked });
      noteHeld(page.events.at(-1));
      if (page.atHead && page.events.length > 0) live.grew();
      return page;
    },
    head: async () => {
      const { records } = await calls.run({
        failure: failedRead,
        run: (ending) => reads.all({ from: 'end', limit: 1, direction: 'backwards' }, ending),
      });
      const [last] = records;
      return last === undefined ? null : formatPosition(last.position);
    },
    subscribe: (subscription) => feeder.subscribe(subscription),
    close: async () => {
      live.stop();
      guard.stop();
      await calls.close();
      appendCalls.close();
      // The remaining streams have no effect on the log, so a connection that does not end in time is left open.
      await withinLimit({ ms: limits.callMs }, () => client.shutDown()).catch(() => undefined);
    },
  };
  const logId = makeLogId(store, () => clock.now());
  const feeder = makeFeeder({
    readAll: (page) => store.readAll(page),
    clock: options.readerSleep === undefined ? clock : { ...clock, sleep: options.readerSleep },
    random,
    pollMs: limits.pollMs,
    gatherMs,
    onHead: () => live.atHead(),
    onRest: () => live.rest(),
    ...(onRetry === undefined ? {} : { onRetry }),
    ...(onRead === undefined ? {} : { onRead }),
  });
  const live = makeLiveSubscription(client, {
    credentials,
    prefix,
    clock,
    random,
    limits,
    front: feeder.front,
    onLive: feeder.live,
    onRecord: (record) => {
      sameLog.passed(record);
      noteDamage(record);
      const event = isOurs(record) ? toLogEvent(record) : null;
      noteHeld(event ?? undefined);
      return feeder.receive({ position: formatPosition(record.position), event });
    },
    onLost: (reason) => {
      feeder.lost();
      suspect();
      options.onSubscriptionLost?.(reason);
    },
  });
  client.onVersion = (version) => {
    // The product has this name since 25.0.
    const product = Number.parseInt(version, 10) >= 25 ? 'KurrentDB' : 'EventStoreDB';
    if (/^\d/.test(version)) options.onServer?.({ product, version });
  };
  client.onSilence = () => {
    appendCalls.leave();
    live.leave('its node is silent');
  };
  return store;

  async function readStream(
    stream: string,
    page: { readonly from: bigint; readonly limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly ended: boolean }> {
    const noteWhole = page.from === 0n ? seenWhole.reading(`${prefix}${stream}`) : null;
    const { records, ended } = await streams.read(stream, { ...page, within }, signal);
    if (records.length > 0) noteWhole?.();
    return { events: records.map((record) => toStoredEvent(record, stream)), ended };
  }

  /** A read without an answer may mean a lost connection, and so another server. */
  function failedRead(error: unknown): Error {
    const failure = readFailure(error);
    const isCancelled = error instanceof CallAbandoned && !(error instanceof CallTimedOut);
    if (!(failure instanceof StoreDamaged) && !isCancelled) suspect();
    return failure;
  }

  function toPage(
    { records, sizes, ended }: Found<AllStreamRecordedEvent>,
    after: Position | null,
    { limit, asked }: { readonly limit: number; readonly asked: number },
  ): LogPage {
    const events: LogEvent[] = [];
    let cursor = after;
    let [passed, bytes] = [0, 0];
    for (const [index, record] of records.entries()) {
      const position = formatPosition(record.position);
      if ((after !== null && position <= after) || passed === limit) continue;
      passed += 1;
      cursor = position;
      noteDamage(record);
      if (!isOurs(record)) continue;
      events.push(toLogEvent(record));
      bytes += sizes[index] ?? 0;
    }
    return { events, cursor, atHead: ended && records.length < asked, bytes };
  }

  function noteHeld(event: LogEvent | undefined): void {
    if (event !== undefined) guard.holds({ ...event, name: `${prefix}${event.stream}` });
  }

  function noteDamage(record: AllStreamRecordedEvent): void {
    const damage = damageIn(record, prefix);
    if (damage !== null) options.onStreamDamaged?.(damage);
  }

  function toLogEvent(record: AllStreamRecordedEvent): LogEvent {
    const position = formatPosition(record.position);
    return { position, ...toStoredEvent(record, record.streamId.slice(prefix.length)) };
  }

  /** Tells whether a record is an event of this service. Types of links and of the server's records begin with `$`. */
  function isOurs({ streamId, type }: AllStreamRecordedEvent): boolean {
    return streamId.startsWith(prefix) && streamId !== `${prefix}${logIdStream}` && !type.startsWith('$');
  }
}
