import { z } from 'zod';
import type { JsonObject } from '../../../event-sourcing/ports/domain-event.js';
import type { StateRecord, StateStore } from '../../../event-sourcing/ports/state-store.js';
import type { RecordKind } from '../../../event-sourcing/ports/change-record.js';

/** The last signed checkpoint. One record for all processes: a compare-and-set makes their signatures one chain. */
const signedSchema = z.strictObject({
  origin: z.string(),
  /** Former origins of this log. A process whose log ends before a restart does not sign under one of them. */
  former_origins: z.array(z.string()),
  size: z.int().nonnegative(),
  /** Base64. */
  root: z.string(),
  /** The checkpoint with the service's signatures; empty after a restart, until the first signature. */
  note: z.string(),
  signed_at: z.iso.datetime(),
  /** The last cosignature of each witness: its line and the size that it covers. */
  cosignatures: z.record(z.string(), z.strictObject({ line: z.string(), size: z.int() })),
});

const contradictionSchema = z.strictObject({
  origin: z.string(),
  found_at: z.iso.datetime(),
  /**
   * The check that found it: `record`, `folder`, `keys`, `page`, `tiles`, `log`, `sweep` or `witness <name>`. The same check
   * takes it back.
   */
  source: z.string(),
  what: z.string(),
  /** The size of the tree in which it was found. */
  size: z.int().nonnegative(),
});

export type SignedRecord = z.infer<typeof signedSchema> & JsonObject;
export type Contradiction = z.infer<typeof contradictionSchema> & JsonObject;

/** What the checks of the audit log have found, by source: a sentence, or null. A check without a verdict is absent. */
export type Verdicts = ReadonlyMap<string, string | null>;

export const signedRecord: RecordKind<z.infer<typeof signedSchema>> = {
  key: 'audit/checkpoint',
  schema: signedSchema,
};
export const contradictionRecord: RecordKind<z.infer<typeof contradictionSchema>> = {
  key: 'audit/contradiction',
  schema: contradictionSchema,
};

/** The records of the audit log in the state store. */
const prefix = 'audit/';
const recordsMax = 100;

/** Reads all records of the audit log in one call, by key. @throws StoreUnavailable */
export async function readAuditRecords(
  stateStore: Pick<StateStore, 'list'>,
): Promise<ReadonlyMap<string, StateRecord>> {
  const records = await stateStore.list(prefix, { limit: recordsMax });
  return new Map(records.map((record) => [record.key, record]));
}

/** Returns the origin of a log's checkpoints, which is also the name of its keys: src/areas/audit/signing/README.md#checkpoints-of-the-audit-log. */
export function originOf({
  logId,
  restart,
}: {
  readonly logId: string;
  readonly restart: string | null;
}): string {
  return restart === null ? `stowage/${logId}` : `stowage/${logId}/${restart}`;
}

/** What a status shows of the last checkpoint. */
export interface SignedSummary {
  readonly signed_size: number;
  readonly signed_at: string | null;
  /** Base64. */
  readonly root: string | null;
}

/** Summarises the last checkpoint; null: the record is absent, or a restart has emptied it. */
export function summaryOf(signed: z.infer<typeof signedSchema> | null): SignedSummary {
  if (signed === null || signed.note === '') return { signed_size: 0, signed_at: null, root: null };
  return { signed_size: signed.size, signed_at: signed.signed_at, root: signed.root };
}

/** Returns the checkpoint with the cosignatures of its size; null while nothing is signed. */
export function servedNote({ note, size, cosignatures }: z.infer<typeof signedSchema>): string | null {
  if (note === '') return null;
  const lines = Object.values(cosignatures).filter((cosignature) => cosignature.size === size);
  return note + lines.map(({ line }) => `${line}\n`).join('');
}
