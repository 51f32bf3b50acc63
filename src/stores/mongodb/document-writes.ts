import { z } from 'zod';

import type { Random } from '../../event-sourcing/clock.js';
import type { DocumentWrite, WriteOutcome } from '../../event-sourcing/read-model-store.js';
import { encodeBody } from './body-fields.js';
import type { Calls, GuardedWrite } from './calls.js';
import type { Commands, UpdateStatement } from './commands.js';
import { parseStored } from './parse-stored.js';
import { makeToken } from './token.js';

/** What a read-back needs to know of a stored document. */
const trace = z.object({ _id: z.string(), revision: z.bigint(), write_id: z.string() });
type Trace = z.infer<typeof trace>;

/**
 * Writes each document under its guard. The guard is the statement's filter, so it holds at the moment of the write;
 * a filter that matches nothing inserts, where the guard allows that, and then a duplicate id (E11000) says that the
 * guard does not hold, or that another insert came first. Which of several statements applied is told by the call's
 * token in the documents; a document whose guard still holds is sent again, without upsert once it exists. A write
 * called refused because it was overtaken, or because the stored revision is still lower than the one it was folded
 * from, may have applied before or apply later when its answer was lost: a fold is right wherever its guard holds.
 */
export async function writeDocuments(
  {
    calls,
    commands,
    random,
  }: { readonly calls: Calls; readonly commands: Commands; readonly random: Random },
  collection: string,
  writes: readonly DocumentWrite[],
): Promise<readonly WriteOutcome[]> {
  const pending = new Map(writes.map((write) => [write.document.id, write]));
  if (pending.size < writes.length)
    throw new Error(`a document appears more than once in one write to ${collection}`);
  if (pending.size === 0) return [];

  const writeId = makeToken(random);
  const outcomes = new Map<string, WriteOutcome>();
  const seen = new Set<string>();

  function settle(id: string, outcome: WriteOutcome): void {
    pending.delete(id);
    outcomes.set(id, outcome);
  }

  function inOrder(): readonly WriteOutcome[] {
    return writes.map(({ document }) => outcomes.get(document.id) ?? 'refused');
  }

  const guarded: GuardedWrite<readonly WriteOutcome[]> = {
    what: `write of ${writes.length} documents to ${collection}`,
    send: async (signal) => {
      // In one order in all processes, so that servers that lock rows see no deadlock between two batches.
      const batch = [...pending.values()].sort((a, b) => (a.document.id < b.document.id ? -1 : 1));
      const statements = batch.map((write) => statement(write, writeId, seen.has(write.document.id)));
      const { matched, duplicate } = await commands.update(collection, statements, signal);
      if (duplicate || matched < batch.length) return 'look';
      for (const { document } of batch) settle(document.id, 'applied');
      return { settled: inOrder() };
    },
    look: async (signal) => {
      const ids = [...pending.keys()];
      const stored = await readTraces(commands, collection, ids, signal);
      for (const [id, write] of [...pending]) {
        const found = stored.get(id);
        if (found !== undefined) seen.add(id);
        if (found?.write_id === writeId) settle(id, 'applied');
        else if (!guardHolds(write, found)) settle(id, 'refused');
      }
      return pending.size === 0 ? { settled: inOrder() } : 'send';
    },
  };
  return calls.write(guarded);
}

function statement(
  { document, foldedFrom }: DocumentWrite,
  writeId: string,
  exists: boolean,
): UpdateStatement {
  const whole = foldedFrom === 'whole-stream';
  return {
    q: { _id: document.id, revision: whole ? { $lt: document.revision } : foldedFrom },
    u: {
      revision: document.revision,
      write_id: writeId,
      body: document.body === null ? null : encodeBody(document.body),
    },
    upsert: whole && !exists,
  };
}

function guardHolds({ document, foldedFrom }: DocumentWrite, stored: Trace | undefined): boolean {
  if (foldedFrom === 'whole-stream') return stored === undefined || stored.revision < document.revision;
  return stored?.revision === foldedFrom;
}

async function readTraces(
  commands: Commands,
  collection: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Trace>> {
  const found = await commands.find(
    collection,
    { _id: { $in: [...ids] } },
    { projection: { revision: 1, write_id: 1 }, limit: ids.length, batchSize: ids.length },
    signal,
  );
  const traces = found.map((document) => parseStored(trace, document, collection));
  return new Map(traces.map((parsed) => [parsed._id, parsed]));
}
