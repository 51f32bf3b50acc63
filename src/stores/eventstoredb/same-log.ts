import type { AllStreamRecordedEvent } from '@eventstore/db-client';
import type { Clock } from '../../event-sourcing/clock.js';
import type { Position } from '../../event-sourcing/domain-event.js';
import { StoreDamaged, StoreUnavailable } from '../../event-sourcing/errors.js';
import { makeShortLog } from '../../event-sourcing/short-log.js';
import { formatPosition } from './positions.js';

export interface SameLog {
  /**
   * Looks at the records of a read that began at the position, all of which are in order.
   * @throws StoreDamaged where they are not of the log that was read before; StoreUnavailable while that may be passing
   */
  check(after: Position | null, records: readonly AllStreamRecordedEvent[]): void;
}

/**
 * Notices a server whose log was replaced by an older one. A read from a position begins with the record there: none
 * means that the log ends before it, and another one than this process has read there that it went another way since.
 * @param shortLogMs how long a log that ends too early is waited for: a leader that has been replaced, and has not heard of it,
 * answers so for a moment
 */
export function makeSameLog(deps: {
  readonly clock: Clock;
  readonly shortLogMs: number;
  readonly isOurs: (record: AllStreamRecordedEvent) => boolean;
}): SameLog {
  const { clock, shortLogMs, isOurs } = deps;
  const shortLog = makeShortLog({ clock, waitMs: shortLogMs });
  /** The last record of the last read. */
  let known: { readonly position: Position; readonly id: string; readonly isOurs: boolean } | null = null;

  return {
    check: (after, records) => {
      const [first] = records;
      if (after !== null) {
        if (first === undefined) throw endsBefore(after);
        if (known?.position === after) {
          // Records of others may be scavenged; ours never are.
          const isThere = formatPosition(first.position) === after;
          if (isThere ? first.id !== known.id : known.isOurs)
            throw replaced(after, 'another record is there');
        }
      }
      shortLog.whole();
      const last = records.at(-1);
      if (last === undefined) return;
      known = { position: formatPosition(last.position), id: last.id, isOurs: isOurs(last) };
    },
  };

  function endsBefore(after: Position): Error {
    if (shortLog.isLasting()) return replaced(after, 'the log ends before it');
    return new StoreUnavailable(`the event store's log ends before ${after}, which it has reached already`);
  }
}

function replaced(after: Position, what: string): StoreDamaged {
  return new StoreDamaged(
    `a reader of the EventStoreDB log has been at ${after}, and ${what}: the log was replaced by an older one. ` +
      'Restore its newest backup, or stop the service, delete the read models and start again',
  );
}
