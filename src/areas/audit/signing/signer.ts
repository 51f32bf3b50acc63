import { type SteadyClock, steadyMsOf } from '../../../kit/time/clock.js';
import type { StateRecord, StateStore } from '../../../event-sourcing/ports/state-store.js';
import { changeRecord } from '../../../event-sourcing/ports/change-record.js';
import type { ShortLog } from '../../../event-sourcing/feeding/short-log.js';
import {
  type Contradiction,
  contradictionRecord,
  originOf,
  readAuditRecords,
  type SignedRecord,
  signedRecord,
  type Verdicts,
} from './audit-records.js';
import { type CheckpointFolder, FolderProblem } from './checkpoint-folder.js';
import { makeCompareWithSigned } from './compare-with-signed.js';
import { type CheckpointText, checkpointText, makeNoteSigner, noteOf, parseNote } from '../tree/note.js';
import type { Pages } from './pages.js';
import type { StoredLog } from './sequencer.js';
import type { TreeReader } from '../tree/tree-reader.js';

/** What one pass of the signer knows. */
export interface Signing {
  readonly signed: SignedRecord | null;
  readonly contradiction: Contradiction | null;
  /** Whether this pass signed. */
  readonly isNew: boolean;
}

export type SignableLog = Pick<StoredLog, 'logId' | 'restart' | 'size' | 'root'>;

/** Signs checkpoints of the stored log: src/areas/audit/signing/README.md#checkpoints-of-the-audit-log. */
export interface Signer {
  /**
   * Checks the log against what was signed, and signs when a checkpoint is due. Call it about once a second.
   * @param verdicts of the other checks
   * @param maySign false: a witness has not answered yet
   * @returns null when nothing was due @throws StoreUnavailable
   */
  pass(verdicts: Verdicts, maySign: boolean): Promise<Signing | null>;
  /**
   * Writes a checkpoint of another process to the folders of this one, unless one of them contradicts it.
   * @throws FolderProblem
   */
  keep(signed: SignedRecord): Promise<void>;
  /** Signs a checkpoint for a question to a witness, and records nothing. */
  draft(log: SignableLog): SignedRecord;
}

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
  readonly clock: SteadyClock;
}): Signer {
  const { stateStore, folders, clock } = deps;
  const compare = makeCompareWithSigned(deps);
  let passedAtMs = -Infinity;
  let last: Pick<Signing, 'signed' | 'contradiction'> = { signed: null, contradiction: null };
  /** The verdicts of the last pass, and whether it might sign. */
  let known = '';
  /** Whether the log was compared with what was signed. It is as soon as this process has read it. */
  let hasCompared = false;

  return {
    pass: async (verdicts, maySign) => {
      const log = deps.stored();
      const nowMs = steadyMsOf(clock);
      const isAtHead = log?.atHead === true;
      const now = JSON.stringify([maySign, ...verdicts]);
      const isDue =
        nowMs - passedAtMs >= waitMs ||
        (isAtHead && !hasCompared) ||
        (maySign && unsignedOf(log, last.signed) >= eventsMax) ||
        now !== known;
      if (!isDue) return null;
      [passedAtMs, known] = [nowMs, now];
      hasCompared ||= isAtHead;
      const signing = await passOver(log, await readAuditRecords(stateStore), { verdicts, maySign });
      last = signing;
      return signing;
    },
    keep,
    draft: (log) => sign(log, null),
  };

  async function passOver(
    log: StoredLog | null,
    records: ReadonlyMap<string, StateRecord>,
    { verdicts, maySign }: { readonly verdicts: Verdicts; readonly maySign: boolean },
  ): Promise<Signing> {
    const stored = records.get(signedRecord.key) ?? null;
    const recorded = records.get(contradictionRecord.key) ?? null;
    const signed = stored === null ? null : (signedRecord.schema.parse(stored.value) as SignedRecord);
    const judge = (all: Verdicts): Promise<Contradiction | null> => judgeAll(all, log, { signed, recorded });
    if (log?.atHead !== true) return { signed, contradiction: await judge(verdicts), isNew: false };
    const compared = await compare(log, signed);
    if (compared === 'wait') {
      passedAtMs = -Infinity;
      return { signed, contradiction: last.contradiction, isNew: false };
    }
    const contradiction = await judge(new Map([...compared, ...verdicts]));
    if (contradiction !== null) return { signed, contradiction, isNew: false };
    const next = maySign ? nextOf(log, signed) : null;
    // The first pass writes the last checkpoint to each folder that lacks it, before anything more is signed.
    if (signed !== null) await writeFiles(signed);
    return next === null ? { signed, contradiction, isNew: false } : replace(stored, signed, next);
  }

  function nextOf(log: StoredLog, signed: SignedRecord | null) {
    const isNew = isUnsigned(log, signed);
    const next = isNew ? sign(log, signed) : signedByAdded(signed, originOf(log));
    return next === null ? null : { next, isNew };
  }

  async function replace(
    stored: StateRecord | null,
    signed: SignedRecord | null,
    { next, isNew }: { readonly next: SignedRecord; readonly isNew: boolean },
  ): Promise<Signing> {
    const version = await stateStore.compareAndSet(signedRecord.key, stored?.version ?? null, next);
    // Another process signed first. The next pass reads its checkpoint.
    if (version === null) return { signed, contradiction: null, isNew: false };
    await writeFiles(next);
    return { signed: next, contradiction: null, isNew };
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

  /**
   * Records the first contradiction, or removes the one whose own check passes now.
   * @returns the contradiction that holds
   */
  async function judgeAll(
    verdicts: Verdicts,
    log: StoredLog | null,
    { signed, recorded }: { readonly signed: SignedRecord | null; readonly recorded: StateRecord | null },
  ): Promise<Contradiction | null> {
    const origin = log === null ? (signed?.origin ?? '') : originOf(log);
    const [first] = [...verdicts].filter(([, what]) => what !== null);
    const changed = await changeRecord<Contradiction, Contradiction | null, Contradiction | null>(
      stateStore,
      {
        key: contradictionRecord.key,
        schema: { parse: (value) => contradictionRecord.schema.parse(value) },
      },
      (before) => {
        if (before !== null && holds(before.value, log, verdicts)) return { keep: before.value };
        if (first === undefined) return before === null ? { keep: null } : { write: null, result: null };
        const [source, what] = first;
        const next: Contradiction = {
          ...{ origin, source, what: what ?? '', size: log?.size ?? 0 },
          found_at: clock.now().toISOString(),
        };
        return { write: next, result: next };
      },
      { tries: 3, first: recorded },
    );
    if (changed === null) return last.contradiction;
    return 'kept' in changed ? changed.kept : changed.result;
  }
}

/** A restart begins another origin, which nothing contradicts yet. Before it has read the log, a process cannot tell. */
function holds({ origin, source }: Contradiction, log: StoredLog | null, verdicts: Verdicts): boolean {
  return (log === null || origin === originOf(log)) && verdicts.get(source) !== null;
}

/** Returns whether a kept checkpoint is of another or a longer history than the signed one. */
function contradicts(kept: CheckpointText, { size, root }: SignedRecord): boolean {
  return kept.size > size || (kept.size === size && kept.root.toString('base64') !== root);
}

/** Returns how many events the last checkpoint lacks. */
function unsignedOf(log: StoredLog | null, signed: SignedRecord | null): number {
  return (log?.size ?? 0) - (signed?.size ?? 0);
}

function isUnsigned(log: StoredLog, signed: SignedRecord | null): boolean {
  return log.size > 0 && (signed?.origin !== originOf(log) || log.size > signed.size);
}
