import type { AllStreamRecordedEvent } from '@eventstore/db-client';
import type { Clock } from '../../../kit/time/clock.js';
import type { Position } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { makeShortLog } from '../../../event-sourcing/feeding/read-log.js';
import { formatPosition } from './positions.js';

/**
 * Detects a log that an older one replaced. A read from a position begins with the record there. No record means that
 * the log ends before it; another record than this process read there means that the log has diverged.
 * @param deps.shortLogMs the time that a log may be too short: a deposed leader answers from a shorter log for a moment
 */
export function makeSameLog(deps: {
  readonly clock: Clock;
  readonly shortLogMs: number;
  readonly isOurs: (record: AllStreamRecordedEvent) => boolean;
}) {
  const { clock, shortLogMs, isOurs } = deps;
  const shortLog = makeShortLog({ clock, waitMs: shortLogMs });
  /** The last record of the previous read, or of the live subscription since. */
  let known: { readonly position: Position; readonly id: string; readonly isOurs: boolean } | null = null;

  return {
    /** Notes a record that the live subscription sent: a later read from its position must find it. */
    passed,
    /**
     * Checks the records, in order, of a read that began at the position.
     * @throws StoreDamaged when they are of another log than before; StoreUnavailable while the cause may be temporary
     */
    check: (after: Position | null, records: readonly AllStreamRecordedEvent[]) => {
      const [first] = records;
      if (after !== null) {
        if (first === undefined) throw endsBefore(after);
        if (known?.position === after) {
          // The server may scavenge records of other programs, but never those of this service.
          const isThere = formatPosition(first.position) === after;
          if (isThere ? first.id !== known.id : known.isOurs)
            throw replaced(after, 'another record is there');
        }
      }
      shortLog.whole();
      const last = records.at(-1);
      if (last !== undefined) passed(last);
    },
  };

  function passed(record: AllStreamRecordedEvent): void {
    known = { position: formatPosition(record.position), id: record.id, isOurs: isOurs(record) };
  }

  function endsBefore(after: Position): Error {
    if (shortLog.isLasting()) return replaced(after, 'the log ends before it');
    return new StoreUnavailable(`the event store's log ends before ${after}, which it had reached before`);
  }
}

/** Makes the error of a log that does not hold what this process knows at a position. */
export function replaced(after: Position, finding: string): StoreDamaged {
  return new StoreDamaged(
    `this process knows the EventStoreDB log up to ${after}, but ${finding}: the log was replaced by an older one. ` +
      'Restore its newest backup, or stop the service, delete the read models and start again',
  );
}
