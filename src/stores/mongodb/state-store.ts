import type { Clock, Random } from '../../event-sourcing/clock.js';
import type { StateStore } from '../../event-sourcing/state-store.js';
import type { Calls } from './calls.js';
import type { Commands } from './commands.js';
import { makeVersionedRecords } from './versioned-records.js';

const collection = 'state';

/** The state store in one database. Whether a record is expired is decided by the injected clock alone. */
export function makeMongoDbStateStore({
  calls,
  commands,
  random,
  clock,
  close,
}: {
  readonly calls: Calls;
  readonly commands: Commands;
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
      await calls.read('ping', async (signal) => commands.run({ ping: 1 }, signal));
    },
    close,
  };
}

/**
 * Lets the server delete what expired an hour ago: housekeeping only, and late, so that a server whose clock is ahead
 * of ours never takes away what we still count as there. Removed records stay as long, which is what keeps a late
 * repetition of an earlier write from applying.
 */
export async function ensureStateHousekeeping(commands: Commands, signal: AbortSignal): Promise<void> {
  await commands.ensure(
    collection,
    [{ name: 'expires_at', key: { expires_at: 1 }, expireAfterSeconds: 3600 }],
    signal,
  );
}
