import type { Clock } from '../../../src/kit/time/clock.js';
import type { StateRecord, StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { compareUtf8 } from './compare-utf8.js';
import { frozen } from './memory-read-model-store.js';

/** Makes a model of the state store in memory, for simulations and as the reference of the contract suite. */
export function makeMemoryStateStore({ clock }: { readonly clock: Clock }): StateStore {
  const records = new Map<string, StateRecord>();
  let versions = 0;

  function live(key: string): StateRecord | null {
    const record = records.get(key);
    if (record === undefined) return null;
    return record.expiresAt === null || record.expiresAt > clock.now() ? record : null;
  }

  return {
    get: async (key) => Promise.resolve(live(key)),
    compareAndSet: async (key, expected, value, { expiresAt } = {}) => {
      if ((live(key)?.version ?? null) !== expected) return Promise.resolve(null);
      if (value === null) {
        records.delete(key);
        return Promise.resolve('removed');
      }
      versions += 1;
      const version = String(versions);
      records.set(key, frozen(structuredClone({ key, value, version, expiresAt: expiresAt ?? null })));
      return Promise.resolve(version);
    },
    list: async (prefix, { after, limit }) =>
      Promise.resolve(
        [...records.keys()]
          .filter((key) => key.startsWith(prefix) && (after === undefined || compareUtf8(key, after) > 0))
          .sort(compareUtf8)
          .flatMap((key) => live(key) ?? [])
          .slice(0, limit),
      ),
    ping: async () => Promise.resolve(),
    close: async () => Promise.resolve(),
  };
}
