import type { Clock } from '../../../kit/time/clock.js';
import type { StateRecord, StateStore } from '../../ports/state-store.js';
import { type LeaseRecord, type Sighting, feederPrefix, isLeftOver, parseLease, sight } from './lease.js';
import { taskPrefix } from './tasks.js';

export type LeaseWatch = ReturnType<typeof makeLeaseWatch>;

/** So many looks show whether an owner renews its record: after 2.5 s without a change it counts as gone. */
const watchLooks = { max: 6, everyMs: 600 };

/** Watches the leases of all releases and tasks, for operators. */
export function makeLeaseWatch(deps: {
  readonly stateStore: Pick<StateStore, 'list'>;
  readonly clock: Clock;
}) {
  let leases: readonly { readonly stored: StateRecord; readonly seen: Sighting }[] = [];
  return {
    /**
     * Reads the records until each that concerns the caller was renewed or counts as left over, for 3 s at most.
     * @throws StoreUnavailable
     */
    look: async (concerns: (record: LeaseRecord) => boolean = () => true): Promise<void> => {
      const renewed = new Set<string>();
      for (let looks = 1; looks <= watchLooks.max; looks += 1) {
        await refresh();
        for (const { stored, seen } of leases)
          if (seen.hasChanged && seen.looks === 1) renewed.add(stored.key);
        const isOpen = live().some(({ key, record }) => !renewed.has(key) && concerns(record));
        if (!isOpen) return;
        if (looks < watchLooks.max) await deps.clock.sleep(watchLooks.everyMs);
      }
    },
    /** Returns the records that the last reads did not show to be left over. */
    live: (): readonly LeaseRecord[] => live().map(({ record }) => record),
  };

  async function refresh(): Promise<void> {
    const startedMs = deps.clock.steadyMs();
    const lists = [feederPrefix, taskPrefix].map((prefix) => deps.stateStore.list(prefix, { limit: 1_000 }));
    leases = (await Promise.all(lists)).flat().map((stored) => {
      const before = leases.find((lease) => lease.stored.key === stored.key);
      return { stored, seen: sight(before?.seen ?? null, stored, startedMs) };
    });
  }

  function live(): readonly { readonly key: string; readonly record: LeaseRecord }[] {
    return leases.flatMap(({ stored, seen }) => {
      const record = isLeftOver(seen) ? null : parseLease(stored);
      return record === null ? [] : [{ key: stored.key, record }];
    });
  }
}
