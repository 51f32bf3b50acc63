import { steadyMsOf } from '../../kit/time/clock.js';
import type { Config } from '../../config/config.js';
import { makeAvailability } from '../../observing/stores/availability.js';
import type { Clock } from '../../kit/time/clock.js';
import { type LogReads, makeLogReads } from '../../observing/stores/log-reads.js';
import type { StoreLink } from '../../observing/stores/store-watch.js';

/** The three stores as operators know them. MongoDB is one link, because one server holds read models and state. */
export interface StoreLinks {
  readonly eventStore: StoreLink & { readonly reads: LogReads };
  readonly readModels: StoreLink;
  readonly state: StoreLink;
}

export function makeStoreLinks(
  { eventStoreDbUrl, mongoDbUrl }: Pick<Config, 'eventStoreDbUrl' | 'mongoDbUrl'>,
  clock: Pick<Clock, 'now'>,
): StoreLinks {
  const link = (name: string): StoreLink => ({
    name,
    availability: makeAvailability(() => steadyMsOf(clock)),
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
