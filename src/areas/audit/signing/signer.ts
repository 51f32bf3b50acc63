import type { Clock } from '../../../kit/clock.js';
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
} from './audit-records.js';
import { type CheckpointFolder, FolderProblem } from './checkpoint-folder.js';
import { rootOf } from '../tree/merkle.js';
import { type CheckpointText, checkpointText, makeNoteSigner, noteOf, parseNote } from '../tree/note.js';
import type { StoredLog } from './sequencer.js';
import type { TreeReader } from '../tree/tree-reader.js';

/** What one pass of the signer knows. */
export interface Signing {
  readonly signed: SignedRecord | null;
  readonly contradiction: Contradiction | null;
  /** Whether this pass signed. */
  readonly isNew: boolean;
}

/** Signs checkpoints of the stored log: docs/design.md#checkpoints-of-the-audit-log. */
export interface Signer {
  /**
   * Checks the log against what was signed, and signs when a checkpoint is due. Call it about once a second.
   * @param found a contradiction that another check has found or takes back, by its source
   * @returns null when nothing was due @throws StoreUnavailable
   */
  pass(found: ReadonlyMap<string, string | null>): Promise<Signing | null>;
  /**
   * Writes a checkpoint of another process to the folder of this one, unless the folder contradicts it.
   * @throws FolderProblem
   */
  keep(signed: SignedRecord): Promise<void>;
  /** Signs the empty tree, which every history continues. A witness answers with the size that it holds. */
  empty(log: StoredLog): SignedRecord;
}

/** A checkpoint is due after so many events, or after this time. */
const eventsMax = 1_000;
const waitMs = 10_000;

export function makeSigner(deps: {
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet' | 'list'>;
  readonly tree: Pick<TreeReader, 'rootAt'>;
  readonly stored: () => StoredLog | null;
  /** The 32-byte seeds of `AUDIT_SIGNING_KEYS`, the active one first. */
  readonly seeds: () => readonly Buffer[];
  readonly folder: CheckpointFolder | null;
  readonly shortLog: ShortLog;
  readonly clock: Pick<Clock, 'now'>;
}): Signer {
  const { stateStore, tree, folder, shortLog, clock } = deps;
  let passedAtMs = -Infinity;
  let last: Pick<Signing, 'signed' | 'contradiction'> = { signed: null, contradiction: null };
  /** Whether the log was compared with what was signed. It is as soon as this process has read it. */
  let hasCompared = false;

  return {
    pass: async (found) => {
      const log = deps.stored();
      const nowMs = clock.now().getTime();
      const isAtHead = log?.atHead === true;
      const isDue =
        Math.abs(nowMs - passedAtMs) >= waitMs ||
        (isAtHead && !hasCompared) ||
        unsignedOf(log, last.signed) >= eventsMax ||
        isNews(found, last.contradiction);
      if (!isDue) return null;
      passedAtMs = nowMs;
      hasCompared ||= isAtHead;
      const signing = await passOver(log, await readAuditRecords(stateStore), found);
      last = signing;
      return signing;
    },
    keep,
    empty: (log) => sign({ ...log, size: 0, root: rootOf([]) }, null),
  };

  async function passOver(
    log: StoredLog | null,
    records: ReadonlyMap<string, StateRecord>,
    found: ReadonlyMap<string, string | null>,
  ): Promise<Signing> {
    const stored = records.get(signedRecord.key) ?? null;
    const recorded = records.get(contradictionRecord.key) ?? null;
    const signed = stored === null ? null : (signedRecord.schema.parse(stored.value) as SignedRecord);
    if (log?.atHead !== true) {
      return { signed, contradiction: await judge(found, log, { signed, recorded }), isNew: false };
    }
    const problems = await compare(log, signed);
    if (problems === 'wait') {
      passedAtMs = -Infinity;
      return { signed, contradiction: last.contradiction, isNew: false };
    }
    const contradiction = await judge(new Map([...problems, ...found]), log, { signed, recorded });
    if (contradiction !== null) return { signed, contradiction, isNew: false };
    const isNew = isUnsigned(log, signed);
    const next = isNew ? sign(log, signed) : signedByAdded(signed, originOf(log));
    // After a crash between the record and the file, the file follows.
    if (next === null && signed !== null) await writeFile(signed);
    return next === null ? { signed, contradiction, isNew } : replace(stored, signed, { next, isNew });
  }

  async function replace(
    stored: StateRecord | null,
    signed: SignedRecord | null,
    { next, isNew }: { readonly next: SignedRecord; readonly isNew: boolean },
  ): Promise<Signing> {
    const version = await stateStore.compareAndSet(signedRecord.key, stored?.version ?? null, next);
    // Another process signed first. The next pass reads its checkpoint.
    if (version === null) return { signed, contradiction: null, isNew: false };
    await writeFile(next);
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

  function sign(log: StoredLog, before: SignedRecord | null): SignedRecord {
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

  /** Compares the log with the last signed checkpoint of its origin, in the record and in the folder. */
  async function compare(
    log: StoredLog,
    signed: SignedRecord | null,
  ): Promise<ReadonlyMap<string, string | null> | 'wait'> {
    const origin = originOf(log);
    // This process has not read the restart yet.
    if (signed?.former_origins.includes(origin) === true) return 'wait';
    const kept = await readFolder(origin);
    const claims = [
      ...(signed?.origin === origin && signed.size > 0
        ? [{ source: 'record', size: signed.size, root: Buffer.from(signed.root, 'base64') }]
        : []),
      ...(kept.checkpoint === null ? [] : [{ source: 'folder', ...kept.checkpoint }]),
    ];
    const results = new Map<string, string | null>([
      ['record', null],
      ['folder', kept.problem],
    ]);
    const isShort = claims.some(({ size }) => size > log.size);
    if (!isShort) shortLog.whole();
    else if (!shortLog.isLasting()) return 'wait';
    for (const { source, size, root } of claims) {
      if (size > log.size) {
        results.set(source, `the log has ${log.size} events, but a checkpoint of ${size} events was signed`);
      } else if (!(await tree.rootAt(size)).equals(root)) {
        results.set(source, `the first ${size} events are other ones than those that were signed`);
      }
    }
    return results;
  }

  async function readFolder(origin: string) {
    try {
      return { checkpoint: (await folder?.newest(origin)) ?? null, problem: null };
    } catch (error) {
      if (!(error instanceof FolderProblem)) throw error;
      return { checkpoint: null, problem: error.message };
    }
  }

  async function keep(signed: SignedRecord): Promise<void> {
    const kept = (await folder?.newest(signed.origin)) ?? null;
    if (kept !== null && contradicts(kept, signed)) {
      const stored = await stateStore.get(signedRecord.key);
      const last = stored === null ? null : (signedRecord.schema.parse(stored.value) as SignedRecord);
      // A file follows its record, so only a later record explains the file: another process has signed since.
      if (last === null || (last.origin === signed.origin && contradicts(kept, last))) {
        throw new FolderProblem(
          `AUDIT_CHECKPOINT_DIR: a checkpoint of ${kept.size} events there contradicts the last signed one, of ${signed.size}`,
        );
      }
    }
    await writeFile(signed);
  }

  async function writeFile(signed: SignedRecord): Promise<void> {
    if (signed.note !== '') await folder?.write(signed, signed.note);
  }

  /**
   * Records a contradiction, or removes the one that its own check no longer finds. The first one stays.
   * @returns the contradiction that holds
   */
  async function judge(
    found: ReadonlyMap<string, string | null>,
    log: StoredLog | null,
    { signed, recorded }: { readonly signed: SignedRecord | null; readonly recorded: StateRecord | null },
  ): Promise<Contradiction | null> {
    const origin = log === null ? (signed?.origin ?? '') : originOf(log);
    const [first] = [...found].filter(([, what]) => what !== null);
    const changed = await changeRecord<Contradiction, Contradiction | null, Contradiction | null>(
      stateStore,
      {
        key: contradictionRecord.key,
        schema: { parse: (value) => contradictionRecord.schema.parse(value) },
      },
      (before) => {
        // A restart begins another origin, which nothing contradicts yet.
        const holds =
          before !== null && before.value.origin === origin && found.get(before.value.source) !== null;
        if (holds) return { keep: before.value };
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

/** Returns whether a check has found a first contradiction, or takes back the one that holds. */
function isNews(found: ReadonlyMap<string, string | null>, held: Contradiction | null): boolean {
  if (held === null) return [...found.values()].some((what) => what !== null);
  return found.get(held.source) === null;
}
