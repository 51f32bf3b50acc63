import { z } from 'zod';

import type { Checkpoint } from '../../event-sourcing/read-model-store.js';
import type { Calls } from './calls.js';
import type { Commands } from './commands.js';
import { parseStored } from './parse-stored.js';

const checkpoints = 'checkpoints';

const storedCheckpoint = z.object({
  log_id: z.string(),
  position: z.string(),
  fingerprint: z.string().nullish(),
});

/** One document a collection: `{_id: <collection>, log_id, position, fingerprint}`. */
export interface Checkpoints {
  readonly load: (collection: string) => Promise<Checkpoint | null>;
  readonly save: (collection: string, checkpoint: Checkpoint) => Promise<void>;
}

export function makeCheckpoints({
  calls,
  commands,
}: {
  readonly calls: Calls;
  readonly commands: Commands;
}): Checkpoints {
  return {
    load: async (collection) => {
      const [found] = await calls.read(`read of the checkpoint of ${collection}`, async (signal) =>
        commands.find(checkpoints, { _id: collection }, { limit: 1, batchSize: 1 }, signal),
      );
      if (found === undefined) return null;
      const { log_id: logId, position, fingerprint } = parseStored(storedCheckpoint, found, checkpoints);
      return { logId, position, ...(fingerprint == null ? {} : { fingerprint }) };
    },
    // A filter that moves forward only may be sent any number of times.
    save: async (collection, { logId, position, fingerprint = null }) =>
      calls.repeatable(`write of the checkpoint of ${collection}`, async (signal) => {
        const statement = {
          q: { _id: collection, $or: [{ log_id: { $ne: logId } }, { position: { $lt: position } }] },
          u: { log_id: logId, position, fingerprint },
        };
        const { duplicate } = await commands.update(checkpoints, [{ ...statement, upsert: true }], signal);
        // It is there and not behind, or another process inserted it at this moment: then the filter decides.
        if (duplicate) await commands.update(checkpoints, [{ ...statement, upsert: false }], signal);
      }),
  };
}

/** Forgets how far a collection is. */
export async function deleteCheckpoint(
  commands: Commands,
  collection: string,
  signal: AbortSignal,
): Promise<void> {
  await commands.deleteById(checkpoints, collection, signal);
}
