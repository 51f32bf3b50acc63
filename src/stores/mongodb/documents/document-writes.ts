import { z } from 'zod';
import type { Random } from '../../../kit/time/clock.js';
import {
  type DocumentWrite,
  type WriteOutcome,
  assertDocumentFits,
} from '../../../event-sourcing/ports/read-model-store.js';
import type { Attempt } from '../calls/attempts.js';
import { encodeBody, makeToken, parseStored } from './body-fields.js';
import type { Calls, GuardedWrite } from '../calls/calls.js';
import type { DatabaseCommands, UpdateStatement } from '../calls/commands.js';

/** The fields of a stored document that a read-back needs. */
const trace = z.object({ _id: z.string(), revision: z.bigint(), write_id: z.string() });
type Trace = z.infer<typeof trace>;

/** The most bytes of one command. A larger document has a command for itself. A server takes 16 MiB. */
const commandBytesMax = 4 * 1024 * 1024;

/** What a statement has beside the body, with an id of ordinary length. */
const statementBytes = 400;

/**
 * Writes documents in parts that a command takes, one part after the other. Each part has the limit of a write.
 * @throws DocumentTooLarge before the first part
 */
export async function writeDocuments(
  context: WriteContext,
  collection: string,
  writes: readonly DocumentWrite[],
): Promise<readonly WriteOutcome[]> {
  if (new Set(writes.map(({ document }) => document.id)).size < writes.length)
    throw new Error(`a document appears more than once in one write to ${collection}`);
  const outcomes: WriteOutcome[] = [];
  for (const part of inParts(writes)) outcomes.push(...(await writePart(context, collection, part)));
  return outcomes;
}

/** @throws DocumentTooLarge */
function inParts(writes: readonly DocumentWrite[]): readonly (readonly DocumentWrite[])[] {
  const parts: DocumentWrite[][] = [];
  let left = 0;
  for (const write of writes) {
    const bytes = statementBytes + assertDocumentFits(write.document);
    if (parts.length === 0 || bytes > left) {
      parts.push([]);
      left = commandBytesMax;
    }
    parts.at(-1)?.push(write);
    left -= bytes;
  }
  return parts;
}

interface WriteContext {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
  readonly random: Random;
}

/**
 * Writes each document under its guard: the filter of the statement, which the server checks as it writes. A fold of
 * the whole stream is an upsert: when its filter matches nothing, it inserts. A duplicate id (E11000) then means that
 * the guard does not hold, or that another insert came first. The reply does not say which statements applied; the
 * token in the documents does. A document whose guard still holds is sent again, without upsert once it exists.
 *
 * After a lost answer, a write may count as refused although it applied or applies later. That does no harm, because a
 * fold is correct wherever its guard holds.
 */
async function writePart(
  { calls, commands, random }: WriteContext,
  collection: string,
  writes: readonly DocumentWrite[],
): Promise<readonly WriteOutcome[]> {
  const pending = new Map(writes.map((write) => [write.document.id, write]));
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
    send: async (attempt) => {
      // All processes write in the same order, so that servers that lock rows see no deadlock between two batches.
      const batch = [...pending.values()].sort((a, b) => (a.document.id < b.document.id ? -1 : 1));
      const statements = batch.map((write) => statement(write, writeId, seen.has(write.document.id)));
      const { matched, duplicate } = await commands.update(collection, statements, attempt);
      if (duplicate || matched < batch.length) return 'look';
      for (const { document } of batch) settle(document.id, 'applied');
      return { settled: inOrder() };
    },
    look: async (attempt) => {
      const ids = [...pending.keys()];
      const stored = await readTraces(commands, collection, ids, attempt);
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
  commands: DatabaseCommands,
  collection: string,
  ids: readonly string[],
  attempt: Attempt,
): Promise<ReadonlyMap<string, Trace>> {
  const found = await commands.find(
    collection,
    { _id: { $in: [...ids] } },
    { projection: { revision: 1, write_id: 1 }, limit: ids.length },
    attempt,
  );
  const traces = found.map((document) => parseStored(trace, document, collection));
  return new Map(traces.map((parsed) => [parsed._id, parsed]));
}
