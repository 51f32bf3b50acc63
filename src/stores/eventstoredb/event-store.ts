import { randomUUID } from 'node:crypto';
import type { AllStreamRecordedEvent } from '@eventstore/db-client';
import type { Clock, Random } from '../../event-sourcing/clock.js';
import type { LogEvent, Position } from '../../event-sourcing/domain-event.js';
import type { EventStore, LogPage } from '../../event-sourcing/event-store.js';
import { makeLogFollower } from '../../event-sourcing/log-follower.js';
import { makeAppend } from './appends.js';
import { makeCalls } from './calls.js';
import { makeClient } from './client.js';
import { parseConnectionString, type ConnectionPolicy } from './connection-string.js';
import { appendFailure, readFailure } from './failures.js';
import { logIdStream, makeLogId } from './log-id.js';
import { formatPosition, parsePosition } from './positions.js';
import { makeReads } from './reads.js';
import { makeSameLog } from './same-log.js';
import { checkSizes } from './sizes.js';
import { toStoredEvent } from './stored-events.js';
import { withinLimit } from './time-limit.js';
import { makeWakeUp } from './wake-up.js';

export interface EventStoreDbLimits {
  /** One try of any call, in milliseconds. */
  readonly callMs: number;
  /** Calls under way at once; more are refused. */
  readonly callsMax: number;
  /** How long a subscription may keep silent about a log that grows, in milliseconds. */
  readonly silenceMs: number;
  /** How often the end of the log is looked at without being woken, in milliseconds. */
  readonly pollMs: number;
  /** How long a log is waited for that ends before what was read of it, in milliseconds. */
  readonly shortLogMs: number;
}

/** DESIGN section 5 (5 s per try), section 2.5 (1 s poll). */
const defaultLimits: EventStoreDbLimits = {
  callMs: 5_000,
  callsMax: 2_000,
  silenceMs: 30_000,
  pollMs: 1_000,
  shortLogMs: 10_000,
};

export interface EventStoreDbOptions {
  /** `esdb://…` or `esdb+discover://…`. */
  readonly url: string;
  /** What the names of our streams begin with on the server. */
  readonly streamPrefix: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Makes the UUID of a log that has none yet. */
  readonly newId?: () => string;
  readonly limits?: Partial<EventStoreDbLimits>;
  readonly policy?: ConnectionPolicy;
  /** Told of every failed read of the log before it is tried again. */
  readonly onRetry?: (error: Error, attempt: number) => void;
  /** Told each time the live subscription is lost and opened again; normal operation. */
  readonly onSubscriptionLost?: (reason: string) => void;
}

/** Without credentials the client would batch appends; a server without security ignores these. */
const nobody = { username: 'anonymous', password: 'anonymous' };

/**
 * Opens the event store on an EventStoreDB node or cluster (21.10 or newer). Checks the connection string and connects
 * with the first call, so that a service can start while the store is away.
 * @throws Error with a sentence for every problem of the connection string
 */
export function openEventStoreDb(options: EventStoreDbOptions): EventStore {
  const { url, streamPrefix: prefix, clock, random, newId = randomUUID, onRetry } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const parsed = parseConnectionString(url, options.policy);
  if ('problems' in parsed) throw new Error(`the EventStoreDB URL ${parsed.problems.join('; it ')}`);
  const client = makeClient(parsed.settings, limits.callMs);
  const credentials = parsed.settings.credentials ?? nobody;
  const calls = makeCalls(limits);
  const reads = makeReads(client, credentials);
  const sameLog = makeSameLog({ clock, shortLogMs: limits.shortLogMs, isOurs });
  const appendOnce = makeAppend(client, { reads, credentials, deadlineMs: limits.callMs });

  const store: EventStore = {
    shortLogMs: limits.shortLogMs,
    logId: () => logId(),
    read: async (stream, { from = 0n, limit = 500, signal } = {}) => {
      if (limit <= 0) return [];
      const records = await calls.run(readFailure, signal, (ending) =>
        reads.stream(`${prefix}${stream}`, { from, limit }, ending),
      );
      return records.map((record) => toStoredEvent(record, stream));
    },
    append: async (stream, expected, events, { signal } = {}) => {
      if (events.length === 0) return null;
      checkSizes(stream, events);
      const appended = await calls.run(appendFailure, signal, (ending) =>
        appendOnce({ name: `${prefix}${stream}`, stream, expected }, events, ending),
      );
      follower.wake();
      return appended;
    },
    readAll: async ({ after, limit, signal }) => {
      const from = after === null ? null : parsePosition(after);
      // A read begins with the record at the position itself, so one more is asked for.
      const asked = from === null ? limit : limit + 1;
      const records = await calls.run(readFailure, signal, (ending) =>
        reads.all({ from: from ?? 'start', limit: asked, direction: 'forwards' }, ending),
      );
      sameLog.check(after, records);
      const page = toPage(records, after, { limit, asked });
      if (page.atHead && page.events.length > 0) wakeUp.grew();
      return page;
    },
    head: async () => {
      const [last] = await calls.run(readFailure, undefined, (ending) =>
        reads.all({ from: 'end', limit: 1, direction: 'backwards' }, ending),
      );
      return last === undefined ? null : formatPosition(last.position);
    },
    subscribe: (subscription) => {
      wakeUp.start();
      return follower.subscribe(subscription);
    },
    close: async () => {
      wakeUp.stop();
      await calls.close();
      // What is left to end has no effect on the log, so a connection that does not end in time is left to itself.
      await withinLimit({ ms: limits.callMs }, () => client.shutDown()).catch(() => undefined);
    },
  };
  const logId = makeLogId(store, { newId, now: () => clock.now() });
  const follower = makeLogFollower({
    readAll: (page) => store.readAll(page),
    clock,
    random,
    pollMs: limits.pollMs,
    ...(onRetry === undefined ? {} : { onRetry }),
  });
  const wakeUp = makeWakeUp(client, {
    credentials,
    prefix,
    clock,
    random,
    limits,
    wake: () => {
      follower.wake();
    },
    onLost: (reason) => options.onSubscriptionLost?.(reason),
  });
  return store;

  function toPage(
    records: readonly AllStreamRecordedEvent[],
    after: Position | null,
    { limit, asked }: { readonly limit: number; readonly asked: number },
  ): LogPage {
    const events: LogEvent[] = [];
    let cursor = after;
    let passed = 0;
    for (const record of records) {
      const position = formatPosition(record.position);
      if ((after !== null && position <= after) || passed === limit) continue;
      passed += 1;
      cursor = position;
      if (isOurs(record)) {
        events.push({ position, ...toStoredEvent(record, record.streamId.slice(prefix.length)) });
      }
    }
    return { events, cursor, atHead: records.length < asked };
  }

  /** Links and the server's own records have types that begin with `$`, whatever stream they are in. */
  function isOurs({ streamId, type }: AllStreamRecordedEvent): boolean {
    return streamId.startsWith(prefix) && streamId !== `${prefix}${logIdStream}` && !type.startsWith('$');
  }
}
