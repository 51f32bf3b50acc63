import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { JsonObject } from '../../../event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { StateRecord, StateStore } from '../../../event-sourcing/ports/state-store.js';
import { changeRecord, type RecordKind } from '../../../event-sourcing/ports/change-record.js';

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
  /** The first pass that found it. */
  found_at: z.iso.datetime(),
  /** The check: `record`, `folder`, `keys`, `page`, `tiles`, `log`, `sweep` or `witness <name>`. */
  source: z.string(),
  what: z.string(),
  /** The size of the tree in which it was found. */
  size: z.int().nonnegative(),
});

/** What the last pass of each check has found, in this process or another one. Most logs have no finding, so most have no record. */
const findingsSchema = z.strictObject({
  origin: z.string(),
  contradictions: z.array(contradictionSchema),
  /** Why the sequencing does not go on; null while it does. */
  problem: z.string().nullable(),
});

export type SignedRecord = z.infer<typeof signedSchema> & JsonObject;
export type Contradiction = z.infer<typeof contradictionSchema>;
export type Findings = z.infer<typeof findingsSchema>;

/** What checks have found, by source: a sentence, or null. A check that has not ended a pass in this process is absent. */
export type CheckResults = ReadonlyMap<string, string | null>;

export const signedRecord: RecordKind<z.infer<typeof signedSchema>> = {
  key: 'audit/checkpoint',
  schema: signedSchema,
};
export const findingsRecord: RecordKind<Findings> = { key: 'audit/findings', schema: findingsSchema };

/** The records of the audit log in the state store. */
const prefix = 'audit/';
const recordsMax = 100;

export interface AuditRecords {
  readonly signed: { readonly value: SignedRecord; readonly version: string } | null;
  readonly findings: Findings;
  /** The record of the findings as it is stored; null: absent. */
  readonly storedFindings: StateRecord | null;
}

/** Reads all records of the audit log in one call. @throws StoreUnavailable */
export async function readAuditRecords(stateStore: Pick<StateStore, 'list'>): Promise<AuditRecords> {
  const records = await stateStore.list(prefix, { limit: recordsMax });
  const signed = records.find(({ key }) => key === signedRecord.key);
  const storedFindings = records.find(({ key }) => key === findingsRecord.key) ?? null;
  return {
    signed:
      signed === undefined
        ? null
        : { value: signedRecord.schema.parse(signed.value), version: signed.version },
    findings: storedFindings === null ? noFindings : findingsSchema.parse(storedFindings.value),
    storedFindings,
  };
}

const noFindings: Findings = { origin: '', contradictions: [], problem: null };

/** What a pass knows. */
export interface Pass {
  /** Null: the process cannot tell it yet. */
  readonly origin: string | null;
  readonly size: number;
  readonly at: Date;
  readonly checked: CheckResults;
  /** Undefined: the process has not read the log yet. */
  readonly problem: string | null | undefined;
}

/**
 * Returns the findings after a pass: what its checks have found, and what the last pass of each other check found. Another
 * origin begins without findings.
 */
export function findingsAfter(before: Findings, { origin, size, at, checked, problem }: Pass): Findings {
  const earlier = origin === null || before.origin === origin ? before.contradictions : [];
  const standing = earlier.flatMap((one) => {
    const what = checked.get(one.source);
    if (what === null) return [];
    return what === undefined || what === one.what ? [one] : [{ ...one, what, size }];
  });
  const others = [...checked].flatMap(([source, what]) =>
    what === null || standing.some((one) => one.source === source)
      ? []
      : [{ source, what, size, found_at: at.toISOString() }],
  );
  return {
    origin: origin ?? before.origin,
    contradictions: [...standing, ...others],
    problem: problem === undefined ? before.problem : problem,
  };
}

/**
 * Writes the findings after a pass when they differ from the recorded ones.
 * @param first the record as the pass has read it; null: absent
 * @throws StoreUnavailable
 */
export async function recordFindings(
  stateStore: Pick<StateStore, 'get' | 'compareAndSet'>,
  first: StateRecord | null,
  pass: Pass,
): Promise<Findings> {
  const changed = await changeRecord<Findings, Findings, Findings>(
    stateStore,
    findingsRecord,
    (found) => {
      const before = found?.value ?? { ...noFindings, origin: pass.origin ?? '' };
      const next = findingsAfter(before, pass);
      return isDeepStrictEqual(before, next) ? { keep: next } : { write: next, result: next };
    },
    { tries: 3, unknownOutcome: 'retry', first },
  );
  if (changed === null) throw new StoreUnavailable('other processes change the findings of the audit log');
  return 'kept' in changed ? changed.kept : changed.result;
}

/** Returns the origin of a log's checkpoints, which is also the name of its keys: src/areas/audit/signing/README.md#checkpoints-of-the-audit-log. */
export function originOf(log: { readonly logId: string; readonly restart: string | null }): string {
  const { logId, restart } = log;
  return restart === null ? `stowage/${logId}` : `stowage/${logId}/${restart}`;
}

/** What a status shows of the last checkpoint. */
interface SignedSummary {
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
