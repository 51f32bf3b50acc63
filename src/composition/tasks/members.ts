import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Config } from '../../config/config.js';
import type { Clock } from '../../kit/time/clock.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { makeMembers, makeSoleMember, type Members } from '../../event-sourcing/feeding/sharing/members.js';
import type { Log } from '../../log.js';
import { sentenceOf } from '../sentence-of.js';
import { levelOf } from '../opening/store-reports.js';

/** Makes the processes that share the feeding: those that have the configured MongoDB in common. */
export function openMembers({
  config,
  stateStore,
  clock,
  log,
  availability,
}: {
  readonly config: Pick<Config, 'mongoDbUrl'>;
  readonly stateStore: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly availability: Parameters<typeof levelOf>[0];
}): Members {
  // Operators read the id in `stowage projection list`.
  const id = `${hostname().slice(0, 100)}-${process.pid}-${randomUUID().slice(0, 8)}`;
  // A process owns embedded stores alone.
  if (config.mongoDbUrl === undefined) return makeSoleMember(id);
  const onRetry = (error: unknown): void => {
    const level = levelOf(availability, error);
    log.logger[level]({ error: sentenceOf(error) }, 'the list of the processes could not be kept up');
  };
  return makeMembers({ id, stateStore, clock, onRetry });
}
