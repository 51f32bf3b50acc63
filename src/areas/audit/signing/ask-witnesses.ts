import type { SteadyClock } from '../../../kit/time/clock.js';
import { changeRecord } from '../../../event-sourcing/ports/change-record.js';
import type { StateStore } from '../../../event-sourcing/ports/state-store.js';
import { rootOf } from '../tree/merkle.js';
import { type SignedRecord, signedRecord } from './audit-records.js';
import type { StoredLog } from './sequencer.js';
import type { Signer } from './signer.js';
import type { OfferOptions, Witnesses } from './witnesses.js';

/** Asks the witnesses in one turn, one question at a time. No call waits for an answer. */
export type AskWitnesses = ReturnType<typeof makeAskWitnesses>;

type NamedLog = Pick<StoredLog, 'logId' | 'restart' | 'size'>;

/** A witness that has not cosigned the last checkpoint is asked again after this time. */
const againMs = 20_000;
/** A witness that holds more events is asked again after this time. */
const aheadAgainMs = 1_000;
const hourMs = 60 * 60 * 1_000;

export function makeAskWitnesses(deps: {
  readonly witnesses: Witnesses;
  readonly signer: Pick<Signer, 'draft'>;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly clock: SteadyClock;
  readonly readSigned: () => Promise<SignedRecord | null>;
  readonly onFailure: (error: unknown) => void;
  /** The first signature waits for these witnesses. It runs after the first question, and then once an hour. */
  readonly onAwaited: (names: readonly string[]) => void;
}) {
  const { witnesses, signer, stateStore, clock, readSigned, onFailure, onAwaited } = deps;
  /** The question that is open now. */
  let open: Promise<void> | null = null;
  let askedAtMs = -Infinity;
  /** Whether the witnesses were asked in this turn. */
  let hasAsked = false;
  /** The checkpoint that was offered last. */
  let offered: SignedRecord | null = null;
  let reportedAtMs = -Infinity;
  return {
    /** Returns whether this process must ask before it signs, or has no answer yet. */
    mustAsk: () => {
      const statuses = witnesses.statuses();
      if (statuses.length === 0) return false;
      return !hasAsked || statuses.some(({ isAwaited, isAhead }) => isAwaited || isAhead);
    },
    /** Asks before the first signature. Call it once a second while no signature may be made and no other check contradicts. */
    askFirst: (log: StoredLog) => {
      if (isDue()) start(() => askFirst(log));
      reportAwaited();
    },
    /** Asks the witnesses that have not answered, in a process that does not sequence. */
    askElsewhere: (last: SignedRecord | null, log: NamedLog) => {
      // So a witness that falls silent later delays no signature of a process that takes the sequencing over.
      const isAwaited = witnesses.statuses().some((status) => status.isAwaited);
      if (isAwaited && isDue()) start(() => askForSize(last, log, { awaitedOnly: true }));
    },
    /** Offers a signed checkpoint: a new one at once, and one without a cosignature again. */
    offer: (signed: SignedRecord) => {
      const isNew = offered?.size !== signed.size || offered.origin !== signed.origin;
      const lacks = witnesses.statuses().some(({ name }) => signed.cosignatures[name]?.size !== signed.size);
      if (isNew || (isDue() && lacks)) start(() => offer(signed));
    },
    /** Resolves when no question is open. */
    settled: async () => {
      await open;
    },
  };

  function isDue(): boolean {
    const isAhead = witnesses.statuses().some((status) => status.isAhead);
    return clock.steadyMs() - askedAtMs >= (isAhead ? aheadAgainMs : againMs);
  }

  function start(ask: () => Promise<void>): void {
    if (open !== null) return;
    askedAtMs = clock.steadyMs();
    open = ask()
      .catch(onFailure)
      .finally(() => {
        open = null;
      });
  }

  /**
   * A log and a state that were restored together agree with each other, so the witnesses are asked about the last
   * checkpoint. Without one only they know the history. If they hold no larger size, they check a checkpoint of the log
   * before it is recorded.
   */
  async function askFirst(log: StoredLog): Promise<void> {
    const last = await readSigned();
    await askForSize(last, log, {});
    const isRecorded = last !== null && last.note !== '';
    // A further question would replace what a contradiction says.
    const isRefused = witnesses.statuses().some(({ isAhead, found }) => isAhead || (found ?? null) !== null);
    if (!isRecorded && !isRefused && log.size > 0) await offer(signer.draft(log));
    hasAsked = true;
  }

  /**
   * Offers the last checkpoint, or the empty tree, which every history continues: a witness answers with the size that it
   * holds. A log that is shorter than the last checkpoint contradicts without a witness.
   */
  async function askForSize(last: SignedRecord | null, log: NamedLog, options: OfferOptions): Promise<void> {
    if (last === null || last.note === '') {
      const empty = signer.draft({ ...log, size: 0, root: rootOf([]) });
      await offer(empty, { ...options, sizeMax: log.size });
    } else if (last.size <= log.size) await offer(last, options);
  }

  async function offer(checkpoint: SignedRecord, options: OfferOptions = {}): Promise<void> {
    offered = checkpoint;
    const lines = await witnesses.offer(checkpoint, options);
    if (lines.size === 0) return;
    await changeRecord<SignedRecord, SignedRecord, null>(
      stateStore,
      { key: signedRecord.key, schema: { parse: (value) => signedRecord.schema.parse(value) } },
      (before) => {
        if (before === null || before.value.origin !== checkpoint.origin) return { keep: null };
        const cosignatures = { ...before.value.cosignatures };
        for (const [name, line] of lines) {
          if ((cosignatures[name]?.size ?? 0) <= checkpoint.size)
            cosignatures[name] = { line, size: checkpoint.size };
        }
        const next = { ...before.value, cosignatures };
        return { write: next, result: next };
      },
      { tries: 5, unknownOutcome: 'retry' },
    );
  }

  function reportAwaited(): void {
    const awaited = witnesses.statuses().filter(({ isAwaited, problem }) => isAwaited && problem !== null);
    const nowMs = clock.steadyMs();
    if (awaited.length === 0 || nowMs - reportedAtMs < hourMs) return;
    reportedAtMs = nowMs;
    onAwaited(awaited.map(({ name }) => name));
  }
}
