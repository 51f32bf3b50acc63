import type { Clock, Random } from '../../kit/time/clock.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { upkeep, type Calls } from './calls/calls.js';
import type { DatabaseCommands } from './calls/commands.js';
import { makeVersionedRecords } from './versioned-records.js';

export const stateCollection = 'state';
const collection = stateCollection;

/** Makes the state store in one database. Only the injected clock decides whether a record has expired. */
export function makeMongoDbStateStore({
  calls,
  commands,
  random,
  clock,
  close,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
  readonly random: Random;
  readonly clock: Clock;
  readonly close: () => Promise<void>;
}): StateStore {
  const records = makeVersionedRecords({ calls, commands, random, now: () => clock.now(), collection });
  return {
    get: records.get,
    compareAndSet: async (
      key,
      expected,
      value,
      { expiresAt = null }: { readonly expiresAt?: Date | null } = {},
    ) => {
      const removes = value === null;
      const version = await records.compareAndSet(key, expected, { value, removes, expiresAt });
      return version !== null && removes ? 'removed' : version;
    },
    list: records.list,
    ping: async () => {
      await calls.read('ping', async (attempt) => commands.run({ ping: 1 }, attempt), upkeep);
    },
    close,
  };
}

/**
 * Makes the server delete records an hour after they expire or are removed. The hour keeps a server whose clock is
 * ahead from deleting present records, and a late repetition of an earlier write from applying.
 */
export async function ensureExpiry({
  calls,
  commands,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
}): Promise<void> {
  const index = { name: 'expires_at', key: { expires_at: 1 }, expireAfterSeconds: 3600 };
  await calls.indexing(`index of ${collection}`, async (attempt) =>
    commands.createIndexes(collection, [index], attempt),
  );
}
