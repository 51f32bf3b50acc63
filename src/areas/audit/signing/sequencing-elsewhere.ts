import { z } from 'zod';
import { type SteadyClock, steadyMsOf } from '../../../kit/time/clock.js';
import type { StateStore } from '../../../event-sourcing/ports/state-store.js';
import { changeRecord, type RecordKind } from '../../../event-sourcing/ports/change-record.js';
import {
  type Contradiction,
  contradictionRecord,
  readAuditRecords,
  type SignedRecord,
  signedRecord,
} from './audit-records.js';
import { type LogHead, TilesDamaged, type TileStore } from '../tree/tile-store.js';

/** What a process that does not sequence knows of the audit log. */
export interface SequencedElsewhere {
  readonly signed: SignedRecord | null;
  readonly contradiction: Contradiction | null;
  /** The end of the stored log; null before the first tiles. */
  readonly log: LogHead | null;
  /** Why the sequencing does not go on; null while it does. */
  readonly problem: string | null;
}

/** The process that sequences the audit log publishes its problem here, for the status that the others show. */
export interface SequencingRecord {
  /** Writes the problem when it has changed, and every 10 s. @throws StoreUnavailable */
  publish(problem: string | null): Promise<void>;
  /** @throws StoreUnavailable */
  read(): Promise<SequencedElsewhere>;
}

/** For so long two processes may both publish, while the sequencing moves from one to the other. */
const againMs = 10_000;
const problemSchema = z.strictObject({ reason: z.string() });
const problemRecord: RecordKind<z.infer<typeof problemSchema>> = {
  key: 'audit/problem',
  schema: problemSchema,
};

export function makeSequencingRecord({
  stateStore,
  tiles,
  clock,
}: {
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet' | 'list'>;
  readonly tiles: Pick<TileStore, 'readHead'>;
  readonly clock: SteadyClock;
}): SequencingRecord {
  let published: { readonly problem: string | null; readonly atMs: number } | null = null;

  return {
    publish: async (problem) => {
      const nowMs = steadyMsOf(clock);
      if (published?.problem === problem && nowMs - published.atMs < againMs) return;
      const changed = await changeRecord<z.infer<typeof problemSchema>, true, true>(
        stateStore,
        problemRecord,
        (before) => {
          if ((before?.value.reason ?? null) === problem) return { keep: true };
          return { write: problem === null ? null : { reason: problem }, result: true };
        },
        { tries: 3, unknownOutcome: 'retry' },
      );
      if (changed !== null) published = { problem, atMs: nowMs };
    },
    read: async () => {
      const [log, records] = await Promise.all([readHead(), readAuditRecords(stateStore)]);
      const valueOf = <Value>({ key, schema }: RecordKind<Value>): Value | null => {
        const found = records.get(key);
        return found === undefined ? null : schema.parse(found.value);
      };
      return {
        log,
        signed: valueOf(signedRecord) as SignedRecord | null,
        contradiction: valueOf(contradictionRecord) as Contradiction | null,
        problem: valueOf(problemRecord)?.reason ?? null,
      };
    },
  };

  /** Damaged tiles hide neither the problem nor a contradiction. The process that sequences reports them. */
  async function readHead(): Promise<LogHead | null> {
    try {
      return await tiles.readHead();
    } catch (error) {
      if (error instanceof TilesDamaged) return null;
      throw error;
    }
  }
}
