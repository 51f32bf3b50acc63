import type { Clock } from '../../../kit/time/clock.js';
import type { StateStore } from '../../../event-sourcing/ports/state-store.js';
import type { ShortLog } from '../../../event-sourcing/feeding/read-log.js';
import {
  type AuditRecords,
  type CheckResults,
  type Findings,
  originOf,
  readAuditRecords,
  recordFindings,
  type SignedRecord,
  signedRecord,
} from './audit-records.js';
import { type CheckpointFolder, FolderProblem } from './checkpoint-folder.js';
import { makeCompareWithSigned } from './compare-with-signed.js';
import { type CheckpointText, checkpointText, makeNoteSigner, noteOf, parseNote } from '../tree/note.js';
import type { Pages } from './pages.js';
import type { StoredLog } from './sequencer.js';
import type { TreeReader } from '../tree/tree-reader.js';

/** What is signed and found after a pass. */
export type Signing = { readonly signed: SignedRecord | null; readonly findings: Findings };

/** What the other checks have found, and why the sequencing does not go on; undefined before the log is read. */
interface OtherChecks {
  readonly checked: CheckResults;
  readonly problem: string | null | undefined;
  /** False: a witness has not answered yet. */
  readonly maySign: boolean;
}

type SignableLog = Pick<StoredLog, 'logId' | 'restart' | 'size' | 'root'>;

/** Signs checkpoints of the stored log: src/areas/audit/signing/README.md#checkpoints-of-the-audit-log. */
export type Signer = ReturnType<typeof makeSigner>;

/** A checkpoint is due after so many events, or after this time. */
const eventsMax = 1_000;
const waitMs = 10_000;

export function makeSigner(deps: {
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet' | 'list'>;
  readonly tree: Pick<TreeReader, 'rootAt'>;
  readonly pages: Pick<Pages, 'check'>;
  readonly stored: () => StoredLog | null;
  /** The 32-byte seeds of `AUDIT_SIGNING_KEYS`, the active one first. */
  readonly seeds: () => readonly Buffer[];
  readonly folders: readonly CheckpointFolder[];
  readonly shortLog: ShortLog;
  readonly clock: Omit<Clock, 'sleep'>;
}) {
  const { stateStore, folders, clock } = deps;
  const compare = makeCompareWithSigned(deps);
  let passedAtMs = -Infinity;
  let signedSize = 0;
  /** What the last pass got from the other checks. */
  let known = '';
  /** Whether the log was compared with what was signed. It is as soon as this process has read it. */
  let hasCompared = false;
  return {
    /**
     * Checks the log against what was signed, records the findings, and signs when a checkpoint is due and nothing is found.
     * Call it about once a second.
     * @returns null when nothing was due @throws StoreUnavailable
     */
    pass: async (others: OtherChecks) => {
      const log = deps.stored();
      if (!isDue(log, others)) return null;
      [passedAtMs, known] = [clock.steadyMs(), JSON.stringify([...others.checked, others])];
      hasCompared ||= log?.atHead === true;
      const signing = await passOver(log, await readAuditRecords(stateStore), others);
      signedSize = signing.signed?.size ?? 0;
      return signing;
    },
    keep,
    /** Signs a checkpoint for a question to a witness, and records nothing. */
    draft: (log: SignableLog) => sign(log, null),
  };

  function isDue(log: StoredLog | null, others: OtherChecks): boolean {
    return (
      clock.steadyMs() - passedAtMs >= waitMs ||
      (log?.atHead === true && !hasCompared) ||
      (others.maySign && (log?.size ?? 0) - signedSize >= eventsMax) ||
      JSON.stringify([...others.checked, others]) !== known
    );
  }

  async function passOver(
    log: StoredLog | null,
    { signed: stored, storedFindings }: AuditRecords,
    { checked, problem, maySign }: OtherChecks,
  ): Promise<Signing> {
    const signed = stored?.value ?? null;
    const compared = log?.atHead === true ? await compareOrAgain(log, signed) : null;
    const findings = await recordFindings(stateStore, storedFindings, {
      origin: knownOriginOf(log, signed),
      ...{ size: log?.size ?? 0, at: clock.now(), problem },
      checked: new Map([...(compared ?? []), ...checked]),
    });
    if (log === null || compared === null || findings.contradictions.length > 0) return { signed, findings };
    return { signed: await signNext(log, stored, maySign), findings };
  }

  async function compareOrAgain(log: StoredLog, signed: SignedRecord | null): Promise<CheckResults | null> {
    const compared = await compare(log, signed);
    if (compared === null) passedAtMs = -Infinity;
    return compared;
  }

  async function signNext(
    log: StoredLog,
    stored: AuditRecords['signed'],
    maySign: boolean,
  ): Promise<SignedRecord | null> {
    const signed = stored?.value ?? null;
    const next = maySign ? nextOf(log, signed) : null;
    // The first pass writes the last checkpoint to each folder that lacks it, before anything more is signed.
    if (signed !== null) await writeFiles(signed);
    if (next === null) return signed;
    const version = await stateStore.compareAndSet(signedRecord.key, stored?.version ?? null, next);
    // Another process signed first. The next pass reads its checkpoint.
    if (version === null) return signed;
    await writeFiles(next);
    return next;
  }

  function nextOf(log: StoredLog, signed: SignedRecord | null): SignedRecord | null {
    const isUnsigned = log.size > 0 && (signed?.origin !== originOf(log) || log.size > signed.size);
    return isUnsigned ? sign(log, signed) : signedByAdded(signed, originOf(log));
  }

  /** A key that was added signs the last checkpoint too, so that it is known before the log grows. Null when none was. */
  function signedByAdded(signed: SignedRecord | null, origin: string): SignedRecord | null {
    const note = signed?.origin === origin ? parseNote(signed.note) : null;
    if (signed === null || note === null) return null;
    const held = note.signatures.map(({ line }) => line);
    const lines = deps.seeds().map((seed) => makeNoteSigner(origin, seed).sign(note.text));
    if (lines.every((line) => held.includes(line))) return null;
    // Another process may have the keys of another moment, so no signature is removed.
    return { ...signed, note: noteOf(note.text, [...new Set([...lines, ...held])]) };
  }

  function sign(log: SignableLog, before: SignedRecord | null): SignedRecord {
    const origin = originOf(log);
    const text = checkpointText({ origin, size: log.size, root: log.root });
    const lines = deps.seeds().map((seed) => makeNoteSigner(origin, seed).sign(text));
    const isSame = before?.origin === origin;
    const former =
      before === null || isSame ? (before?.former_origins ?? []) : [...before.former_origins, before.origin];
    return {
      origin,
      former_origins: former,
      size: log.size,
      root: log.root.toString('base64'),
      note: noteOf(text, lines),
      signed_at: clock.now().toISOString(),
      cosignatures: isSame ? before.cosignatures : {},
    };
  }

  /**
   * Writes a checkpoint of another process to the folders of this one, unless one of them contradicts it.
   * @throws FolderProblem
   */
  async function keep(signed: SignedRecord): Promise<void> {
    for (const folder of folders) {
      const kept = await folder.newest(signed.origin);
      if (kept === null || !contradicts(kept, signed)) continue;
      const stored = await stateStore.get(signedRecord.key);
      const latest = stored === null ? null : (signedRecord.schema.parse(stored.value) as SignedRecord);
      // A file follows its record, so only a later record explains the file: another process has signed since.
      if (latest === null || (latest.origin === signed.origin && contradicts(kept, latest))) {
        throw new FolderProblem(
          `${folder.name}: a checkpoint of ${kept.size} events there contradicts the last signed one, of ${signed.size}`,
        );
      }
    }
    await writeFiles(signed);
  }

  async function writeFiles(signed: SignedRecord): Promise<void> {
    if (signed.note === '') return;
    for (const folder of folders) await folder.write(signed, signed.note);
  }
}

/** Returns whether a kept checkpoint is of another or a longer history than the signed one. */
function contradicts(kept: CheckpointText, { size, root }: SignedRecord): boolean {
  return kept.size > size || (kept.size === size && kept.root.toString('base64') !== root);
}

/** Before it has read the log up to the last restart, a process knows the origin from the signed checkpoint only. */
function knownOriginOf(log: StoredLog | null, signed: SignedRecord | null): string | null {
  const isBehind = log === null || signed?.former_origins.includes(originOf(log)) === true;
  return isBehind ? (signed?.origin ?? null) : originOf(log);
}
