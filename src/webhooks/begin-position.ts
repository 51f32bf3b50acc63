import { makeLoadOwnCheckpoint } from '../event-sourcing/feeding/checkpoints.js';
import type { Clock } from '../kit/time/clock.js';
import type { Position } from '../event-sourcing/ports/domain-event.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import type { DeliveryRecords, EndpointRecord } from './delivery-records.js';

/** Makes what says where an endpoint follows the log from. Null is the start of the log. */
export function makeBeginPosition(
  deps: {
    readonly eventStore: EventStore;
    readonly records: Pick<DeliveryRecords, 'endpoint' | 'changeEndpoint' | 'dropWaiting'>;
    readonly clock: Clock;
  },
  id: string,
) {
  const { eventStore, records, clock } = deps;
  const loadOwn = makeLoadOwnCheckpoint({ eventStore, clock, load: loadCheckpoint }, `the webhook ${id}`);
  return {
    /**
     * Returns the stored position. A new endpoint begins at the end of the log.
     * @throws StoreUnavailable; StoreDamaged: the log is not the one that the endpoint has followed
     */
    load: async (): Promise<Position | null> => {
      const { logId, checkpoint } = await loadOwn();
      if (checkpoint !== null) return checkpoint.position;
      const head = await eventStore.head();
      const found = await records.changeEndpoint(
        id,
        (present) => present ?? newEndpointRecord(logId, head, clock.now()),
      );
      return found.position;
    },
    /**
     * Moves the endpoint to the end of a log that has replaced its log: what it passed there is not in this one. What waits
     * is dropped.
     */
    moveToEnd: async (): Promise<Position | null> => {
      // The revisions that wait are those of the other log, and would cover new events of this one.
      await records.dropWaiting(id);
      const [logId, head] = [await eventStore.logId(), await eventStore.head()];
      await records.changeEndpoint(id, (found) => ({
        ...(found ?? newEndpointRecord(logId, head, clock.now())),
        ...{ log_id: logId, position: head, fingerprint: null },
      }));
      return head;
    },
  };

  async function loadCheckpoint() {
    const found = await records.endpoint(id);
    // A log that was empty has no position to compare.
    if (found?.position == null) return null;
    const { log_id: logId, position, fingerprint } = found;
    return { logId, position, ...(fingerprint === null ? {} : { fingerprint }) };
  }
}

/** Makes the record of an endpoint that is new, or was dropped. */
export function newEndpointRecord(logId: string, position: string | null, now: Date): EndpointRecord {
  return {
    ...{ log_id: logId, position, fingerprint: null },
    ...{ added_at: now.toISOString(), seen_at: now.toISOString(), state: 'delivering', problem: null },
    ...{ last_success_at: null, last_failure_at: null, last_failure: null },
  };
}
