import type { Document } from 'mongodb';
import { z } from 'zod';

import type { Checkpoint } from '../../../event-sourcing/ports/read-model-store.js';
import type { Attempt } from '../calls/attempts.js';
import { upkeep, type Calls } from '../calls/calls.js';
import type { DatabaseCommands } from '../calls/commands.js';
import { parseStored } from './parse-stored.js';

const checkpoints = 'checkpoints';

const storedCheckpoint = z.object({
  _id: z.string(),
  log_id: z.string(),
  position: z.string(),
  fingerprint: z.string().nullable(),
});

type StoredCheckpoint = z.infer<typeof storedCheckpoint>;

/** Stores one document for each collection: `{_id: <collection>, log_id, position, fingerprint}`. */
export interface Checkpoints {
  readonly load: (collection: string) => Promise<Checkpoint | null>;
  readonly loadMany: (collections: readonly string[]) => Promise<ReadonlyMap<string, Checkpoint>>;
  readonly save: (collection: string, checkpoint: Checkpoint) => Promise<void>;
}

export function makeCheckpoints({
  calls,
  commands,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
}): Checkpoints {
  return {
    load: async (collection) => {
      const [found] = await calls.read(
        `read of the checkpoint of ${collection}`,
        async (attempt) => commands.find(checkpoints, { _id: collection }, { limit: 1 }, attempt),
        upkeep,
      );
      return found === undefined ? null : toCheckpoint(decode(found));
    },
    loadMany: async (collections) => {
      // The server treats a limit of 0 as no limit.
      if (collections.length === 0) return new Map();
      const limit = collections.length;
      const found = await calls.read(
        'read of checkpoints',
        async (attempt) => commands.find(checkpoints, { _id: { $in: [...collections] } }, { limit }, attempt),
        upkeep,
      );
      return new Map(found.map(decode).map((stored) => [stored._id, toCheckpoint(stored)]));
    },
    // The filter only moves a checkpoint forward, so the statement is idempotent.
    save: async (collection, { logId, position, fingerprint = null }) =>
      calls.repeatable(`write of the checkpoint of ${collection}`, async (attempt) => {
        const statement = {
          q: { _id: collection, $or: [{ log_id: { $ne: logId } }, { position: { $lt: position } }] },
          u: { log_id: logId, position, fingerprint },
        };
        const { duplicate } = await commands.update(checkpoints, [{ ...statement, upsert: true }], attempt);
        // The checkpoint is not behind, or another process has just inserted it. Without upsert the filter decides.
        if (duplicate) await commands.update(checkpoints, [{ ...statement, upsert: false }], attempt);
      }),
  };
}

function decode(found: Document): StoredCheckpoint {
  return parseStored(storedCheckpoint, found, checkpoints);
}

function toCheckpoint({ log_id: logId, position, fingerprint }: StoredCheckpoint): Checkpoint {
  return { logId, position, ...(fingerprint === null ? {} : { fingerprint }) };
}

export async function deleteCheckpoint(
  commands: DatabaseCommands,
  collection: string,
  attempt: Attempt,
): Promise<void> {
  await commands.deleteById(checkpoints, collection, attempt);
}
