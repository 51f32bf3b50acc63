import { backoff, type Clock, type Random, steadyMsOf } from '../../../kit/time/clock.js';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { StateStore } from '../../../event-sourcing/ports/state-store.js';
import { type Contradiction, type SignedRecord, signedRecord, type Verdicts } from './audit-records.js';
import { makeAskWitnesses } from './ask-witnesses.js';
import { FolderProblem } from './checkpoint-folder.js';
import type { Sequencer, StoredLog } from './sequencer.js';
import type { SequencedElsewhere, SequencingRecord } from './sequencing-elsewhere.js';
import type { Signer } from './signer.js';
import type { Sweep } from './sweep.js';
import type { Witnesses, WitnessStatus } from './witnesses.js';

/** The state of the audit log, as this process knows it. */
export interface AuditStatus {
  readonly log: Pick<StoredLog, 'logId' | 'size' | 'restart'> | null;
  readonly signed: SignedRecord | null;
  /** Why the sequencing does not go on, in the process that sequences. */
  readonly problem: string | null;
  readonly contradiction: Contradiction | null;
  readonly witnesses: readonly WitnessStatus[];
}

/** The audit log of one process. The one to which it falls sequences, signs and asks the witnesses. */
export interface AuditLog {
  /**
   * Runs until the signal aborts.
   * @param isHere whether this process sequences for all. It is asked once a second
   */
  readonly run: (signal: AbortSignal, isHere?: () => boolean) => Promise<void>;
  readonly status: () => AuditStatus;
  /**
   * Call it when a read misses a tile: all tiles are then written again from the log. It does nothing while a contradiction
   * stands, because the log is not the one that was signed.
   */
  readonly tileMissing: () => void;
  /** Reads the signed checkpoint. @throws StoreUnavailable */
  readonly readSigned: () => Promise<SignedRecord | null>;
}

export interface AuditEvents {
  /** The stores do not answer; the next pass tries again. */
  readonly onRetry: (error: Error, attempt: number) => void;
  readonly onContradiction: (contradiction: Contradiction) => void;
  readonly onResolved: (contradiction: Contradiction) => void;
  /** The first signature waits for these witnesses. It is reported at once and then once an hour. */
  readonly onAwaited: (witnesses: readonly string[]) => void;
  readonly onDefect: (error: unknown) => void;
}

const passMs = 1_000;
/** A process that does not sequence reads the state of the audit log this often. */
const lookMs = 10_000;

export function makeAuditLog(
  deps: {
    readonly sequencer: Sequencer;
    readonly signer: Signer;
    readonly record: SequencingRecord;
    readonly witnesses: Witnesses;
    readonly sweep: Pick<Sweep, 'verdicts' | 'forget'>;
    readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
    readonly clock: Clock;
    readonly random: Random;
  },
  events: AuditEvents,
): AuditLog {
  const { sequencer, signer, record, witnesses, sweep, stateStore, clock, random } = deps;
  let signed: SignedRecord | null = null;
  let contradiction: Contradiction | null = null;
  let elsewhere: Pick<SequencedElsewhere, 'log' | 'problem'> = { log: null, problem: null };
  let lookedAtMs = -Infinity;
  /** Whether the sequencing falls to this process. One that only writes tiles again publishes nothing. */
  let isOwn = true;
  /** The sequencing in this process; null while another one does it. */
  let sequencing: { readonly ending: AbortController; readonly done: Promise<void> } | null = null;
  /** Before the first pass of the signer this process does not know whether a contradiction stands. */
  let isJudged = false;
  const ask = makeAskWitnesses({
    ...{ witnesses, signer, stateStore, clock, readSigned },
    onAwaited: events.onAwaited,
    onFailure: (error) => {
      if (error instanceof StoreUnavailable) events.onRetry(error, 0);
      else events.onDefect(error);
    },
  });

  return {
    run: async (signal, isHere = () => true) => {
      await Promise.all([shareEachSecond(signal, isHere), passEachSecond(signal)]);
      await sequencing?.done;
      await ask.settled();
    },
    status: () => ({
      ...{ signed, contradiction },
      log: sequencer.stored() ?? elsewhere.log,
      problem: sequencer.problem()?.reason ?? (sequencing === null ? elsewhere.problem : null),
      witnesses: witnesses.statuses(),
    }),
    tileMissing: () => {
      if (isJudged && contradiction === null) sequencer.startOver();
    },
    readSigned,
  };

  async function readSigned(): Promise<SignedRecord | null> {
    const stored = await stateStore.get(signedRecord.key);
    return stored === null ? null : signedRecord.schema.parse(stored.value);
  }

  async function shareEachSecond(signal: AbortSignal, isHere: () => boolean): Promise<void> {
    while (!signal.aborted) {
      share(signal, isHere());
      // An abort ends the loop.
      await clock.sleep(passMs, signal).catch(() => undefined);
    }
  }

  /** A read of any process that misses a tile makes that process write all tiles again, which then needs no message. */
  function share(signal: AbortSignal, isHere: boolean): void {
    isOwn = isHere;
    if (!isHere && !sequencer.isStartingOver()) {
      sequencing?.ending.abort();
      return;
    }
    if (sequencing !== null) return;
    const ending = new AbortController();
    const done = sequencer.run(AbortSignal.any([signal, ending.signal])).finally(() => {
      sequencing = null;
      if (signal.aborted) return;
      forget();
    });
    sequencing = { ending, done };
  }

  /** Resets the findings. Only the process that sequences may clear a contradiction. */
  function forget(): void {
    sequencer.forget();
    sweep.forget();
    ask.forget();
  }

  async function passEachSecond(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted;) {
      let waitMs = passMs;
      try {
        await (sequencing === null ? look() : pass());
        attempt = 0;
      } catch (error) {
        if (error instanceof StoreUnavailable || error instanceof FolderProblem)
          events.onRetry(error, attempt);
        else events.onDefect(error);
        waitMs = passMs + backoff(attempt, random, { first: 250, cap: 10_000 });
        attempt += 1;
      }
      // An abort ends the loop.
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  async function pass(): Promise<void> {
    const log = sequencer.stored();
    const maySign = !ask.mustAsk();
    const signing = await signer.pass(verdicts(), maySign);
    await publish();
    if (signing !== null) {
      signed = signing.signed;
      report(signing.contradiction);
    }
    if (log?.atHead !== true || !contradictionAllows()) return;
    // A witness that alone contradicts is asked again, so that it can take that back.
    if (!maySign || (signed === null && contradiction !== null)) ask.askFirst(log);
    else if (signing !== null && signed !== null && signed.note !== '') ask.offer(signed, signing.isNew);
  }

  async function publish(): Promise<void> {
    if (isOwn && isReading()) await record.publish(sequencer.problem()?.reason ?? null);
  }

  /** Reads what the process that sequences has found and signed. */
  async function look(): Promise<void> {
    const nowMs = steadyMsOf(clock);
    if (nowMs - lookedAtMs < lookMs) return;
    const found = await record.read();
    [elsewhere, signed, lookedAtMs] = [found, found.signed, nowMs];
    report(found.contradiction);
    if (found.log !== null) ask.askElsewhere(found.signed, found.log);
    try {
      if (signed !== null) await signer.keep(signed);
    } catch (error) {
      if (error instanceof FolderProblem) elsewhere = { ...found, problem: found.problem ?? error.message };
      throw error;
    }
  }

  function verdicts(): Verdicts {
    const problem = sequencer.problem();
    // Before this process has read the log, it takes back nothing that another one has found.
    const all = new Map(isReading() ? sweep.verdicts() : []);
    for (const { name, contradiction: what, size } of witnesses.statuses()) {
      // A witness that cosigns again takes its contradiction back.
      if (what !== null || size > 0) all.set(`witness ${name}`, what);
    }
    if (isReading()) all.set('log', problem?.kind === 'replaced-log' ? problem.reason : null);
    if (problem?.kind === 'tile-differs') all.set('tiles', problem.reason);
    else if (sequencer.hasComparedAll()) all.set('tiles', null);
    return all;
  }

  /** Returns whether this process has read the log, or knows why it cannot. */
  function isReading(): boolean {
    return sequencer.stored() !== null || sequencer.problem() !== null;
  }

  function contradictionAllows(): boolean {
    return contradiction === null || contradiction.source.startsWith('witness ');
  }

  function report(next: Contradiction | null): void {
    if (next !== null && next.found_at !== contradiction?.found_at) events.onContradiction(next);
    if (next === null && contradiction !== null) events.onResolved(contradiction);
    contradiction = next;
    isJudged = true;
  }
}
