import type { Logger } from 'pino';
import { type Availability, makeAvailability } from '../../observing/stores/availability.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StoreLink, StoreReport } from '../../observing/stores/store-watch.js';
import { type Print, sentenceOf } from '../starting.js';
import type { SteadyClock } from '../../kit/time/clock.js';
import type { Config } from '../../config/config.js';
import { type LogReads, makeLogReads } from '../../observing/stores/store-metrics.js';

/** The three stores as operators know them. MongoDB is one link, because one server holds read models and state. */
export interface StoreLinks {
  readonly eventStore: StoreLink & { readonly reads: LogReads };
  readonly readModels: StoreLink;
  readonly state: StoreLink;
}

export function makeStoreLinks(
  { eventStoreDbUrl, mongoDbUrl }: Pick<Config, 'eventStoreDbUrl' | 'mongoDbUrl'>,
  clock: SteadyClock,
): StoreLinks {
  const link = (name: string): StoreLink => ({
    name,
    availability: makeAvailability(() => clock.steadyMs()),
  });
  const logName =
    eventStoreDbUrl === undefined ? 'the event store' : `EventStoreDB at ${hostsOf(eventStoreDbUrl)}`;
  const log = link(logName);
  const eventStore = { ...log, reads: makeLogReads({ clock, availability: log.availability }) };
  if (mongoDbUrl === undefined) {
    return { eventStore, readModels: link('the read models'), state: link('the state') };
  }
  const mongoDb = link(`MongoDB at ${hostsOf(mongoDbUrl)}`);
  return { eventStore, readModels: mongoDb, state: mongoDb };
}

/** Returns the links without repetition. */
export function distinctLinks({ eventStore, readModels, state }: StoreLinks): readonly StoreLink[] {
  return [...new Set([eventStore, readModels, state])];
}

/** Returns the hosts of a connection string, without user, password and options. */
function hostsOf(url: string): string {
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(url)?.[1] ?? '';
  return authority.slice(authority.lastIndexOf('@') + 1);
}

/**
 * Makes the function that tells operators about a store: one line in the log, and one at the terminal of the person who
 * started the service.
 */
export function makeReportStore(deps: {
  readonly logger: Logger;
  readonly tell: Print;
}): (report: StoreReport) => void {
  const { logger, tell } = deps;
  return ({ store, kind, awayMs, failure }) => {
    const seconds = Math.round(awayMs / 1_000);
    if (kind === 'back') {
      logger.info({ store, seconds }, 'a store answers again');
      tell(`stowage: ${store} answers again after ${seconds} s`);
      return;
    }
    const reason = failure === null ? 'no answer' : explained(sentenceOf(failure));
    if (kind === 'away') {
      logger.warn({ store, reason }, 'a store does not answer');
      tell(`stowage: waiting for ${store}: ${reason}`);
    } else {
      logger.warn({ store, seconds, reason }, 'a store still does not answer');
      tell(`stowage: still waiting for ${store}, for ${seconds} s: ${reason}`);
    }
  };
}

/** Logs a failed attempt that is repeated. @param fields the further fields of the line */
export type NoteRetry = (
  sentence: string,
  error: unknown,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/**
 * Makes what logs failed attempts. While a store is away the line about the store tells operators all of it, and each reader,
 * view and reaction would add one for each attempt, so those lines are of the level debug.
 */
export function makeNoteRetry(
  logger: Logger,
  availability: Readonly<Record<string, Pick<Availability, 'awaySinceMs' | 'isSuspect'>>>,
): NoteRetry {
  return (sentence, error, fields) => {
    const isAway = Object.values(availability).some(
      (store) => store.awaySinceMs() !== null || store.isSuspect(),
    );
    const level = isAway && error instanceof StoreUnavailable ? 'debug' : 'warn';
    logger[level]({ ...fields, error: sentenceOf(error) }, sentence);
  };
}

/** Words of the drivers that hide a mistake in the settings, and what they mean. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/Protocol error|UNIMPLEMENTED/, 'the server there is not EventStoreDB; check the address'],
  [
    /wrong version number|EPROTO|packet length too long/,
    'the server there does not speak TLS; check the address and the option tls',
  ],
];

/** Adds what to do where the reason of a driver does not tell it. */
function explained(reason: string): string {
  const [, meaning] = meanings.find(([pattern]) => pattern.test(reason)) ?? [];
  const line = reason.replaceAll(/\s+/g, ' ').trim();
  return meaning === undefined ? line : `${meaning} (${line})`;
}
