import { backoff, type Clock, type Random } from '../../../kit/time/clock.js';
import { CommandRejected, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { StateStore } from '../../../event-sourcing/ports/state-store.js';
import { type LogHead, TilesDamaged, type TileStore } from '../tree/tile-store.js';
import { type AskWitnesses, makeAskWitnesses } from './ask-witnesses.js';
import {
  type CheckResults,
  type Contradiction,
  type Findings,
  readAuditRecords,
  type SignedRecord,
  signedRecord,
} from './audit-records.js';
import { FolderProblem } from './checkpoint-folder.js';
import type { Sequencer, StoredLog } from './sequencer.js';
import type { Signer } from './signer.js';
import type { Sweep } from './sweep.js';
import type { Witnesses, WitnessStatus } from './witnesses.js';

/** The state of the audit log, as this process knows it. */
export interface AuditStatus {
  readonly log: Pick<StoredLog, 'logId' | 'size' | 'restart'> | null;
  readonly signed: SignedRecord | null;
  /** Why the sequencing does not go on, in the process that sequences. */
  readonly problem: string | null;
  /** The oldest finding of the last passes; null: no check has one. */
  readonly contradiction: Contradiction | null;
  readonly witnesses: readonly WitnessStatus[];
}

/** The audit log of one process. The one to which it falls sequences, signs and asks the witnesses. */
export type AuditLog = ReturnType<typeof makeAuditLog>;

export interface AuditEvents {
  /** The stores do not answer; the next pass tries again. */
  readonly onRetry: (error: Error, attempt: number) => void;
  /** Other checks than before have findings, which are these. */
  readonly onFindings: (found: readonly Contradiction[]) => void;
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
    readonly tiles: Pick<TileStore, 'readHead'>;
    /** Makes the witnesses of a turn. `answered` has the names of those that have answered since the process started. */
    readonly witnessesOf: (answered: Set<string>) => Witnesses;
    readonly sweep: Pick<Sweep, 'run' | 'checked'>;
    readonly stateStore: Pick<StateStore, 'get' | 'list' | 'compareAndSet'>;
    readonly clock: Clock;
    readonly random: Random;
  },
  events: AuditEvents,
) {
  const { sequencer, signer, tiles, sweep, stateStore, clock, random } = deps;
  let signed: SignedRecord | null = null;
  /** Null before the first pass or look. */
  let findings: Findings | null = null;
  /** Of the log that another process sequences. */
  let head: LogHead | null = null;
  let keepProblem: string | null = null;
  let lookedAtMs = -Infinity;
  /** Whether the sequencing falls to this process. One that only writes tiles again publishes no problem. */
  let isOwn = true;
  /** The sequencing in this process; null while another one does it. */
  let sequencing: { readonly ending: AbortController; readonly done: Promise<void> } | null = null;
  let isRun = false;
  const answered = new Set<string>();
  let turn = makeTurn();
  let settled: Promise<unknown> = Promise.resolve();
  return {
    /**
     * Runs until the signal aborts.
     * @param isHere whether this process sequences for all. It is asked once a second
     */
    run: async (signal: AbortSignal, isHere: () => boolean = () => true) => {
      isRun = true;
      for (let attempt = 0; !signal.aborted;) {
        share(signal, isHere());
        const isDone = await passOrRetry(attempt);
        const waitMs = isDone ? 0 : backoff(attempt, random, { first: 250, cap: 10_000 });
        attempt = isDone ? 0 : attempt + 1;
        // An abort ends the loop.
        await clock.sleep(passMs + waitMs, signal).catch(() => undefined);
      }
      await sequencing?.done;
      await Promise.all([settled, turn.ask.settled()]);
    },
    status: (): AuditStatus => ({
      ...{ signed, contradiction: findings?.contradictions[0] ?? null },
      log: sequencer.stored() ?? head,
      problem:
        sequencer.problem()?.reason ?? (sequencing === null ? (findings?.problem ?? keepProblem) : null),
      witnesses: turn.witnesses.statuses(),
    }),
    /**
     * Call it when a read misses a tile: all tiles are then written again from the log. It does nothing while a contradiction
     * stands, because the log is not the one that was signed.
     * @throws CommandRejected not_found in a process that never runs the audit log, as a command without a service
     */
    tileMissing: () => {
      if (!isRun)
        throw new CommandRejected(
          'not_found',
          'tiles of the audit log are missing; start the service, which writes them from the log',
        );
      if (findings?.contradictions.length === 0) sequencer.startOver();
    },
    readSigned,
  };

  /** A turn lasts from one change of the process that sequences to the next, and begins without replies of witnesses. */
  function makeTurn(): { readonly witnesses: Witnesses; readonly ask: AskWitnesses } {
    const witnesses = deps.witnessesOf(answered);
    const ask = makeAskWitnesses({
      ...{ witnesses, signer, stateStore, clock, readSigned },
      onAwaited: events.onAwaited,
      onFailure: (error) => {
        if (error instanceof StoreUnavailable) events.onRetry(error, 0);
        else events.onDefect(error);
      },
    });
    return { witnesses, ask };
  }

  /** Reads the signed checkpoint. @throws StoreUnavailable */
  async function readSigned(): Promise<SignedRecord | null> {
    const stored = await stateStore.get(signedRecord.key);
    return stored === null ? null : signedRecord.schema.parse(stored.value);
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
    const either = AbortSignal.any([signal, ending.signal]);
    const done = Promise.all([sequencer.run(either), sweep.run(either)]).then(() => {
      settled = Promise.all([settled, turn.ask.settled()]);
      [sequencing, turn] = [null, makeTurn()];
    });
    sequencing = { ending, done };
  }

  async function passOrRetry(attempt: number): Promise<boolean> {
    try {
      await (sequencing?.ending.signal.aborted === false ? pass() : look());
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable || error instanceof FolderProblem) events.onRetry(error, attempt);
      else events.onDefect(error);
      return false;
    }
  }

  async function pass(): Promise<void> {
    const log = sequencer.stored();
    const { ask } = turn;
    const maySign = !ask.mustAsk();
    const signing = await signer.pass({ maySign, problem: problemHere(), checked: checkedHere() });
    if (signing !== null) know(signing);
    const found = findings?.contradictions ?? [];
    if (log?.atHead !== true || found.some(({ source }) => !source.startsWith('witness '))) return;
    // A witness that alone contradicts is asked again, because the histories may be one again.
    if (!maySign || (signed === null && found.length > 0)) ask.askFirst(log);
    else if (signed !== null && signed.note !== '') ask.offer(signed);
  }

  /** Returns why the sequencing here does not go on; undefined where another process reports its own. */
  function problemHere(): string | null | undefined {
    const problem = sequencer.problem()?.reason ?? null;
    return isOwn && (problem !== null || sequencer.stored() !== null) ? problem : undefined;
  }

  /** Returns what the checks of this turn have found so far. */
  function checkedHere(): CheckResults {
    const answers = turn.witnesses.statuses().flatMap(({ name, found }) => {
      return found === undefined ? [] : [[`witness ${name}`, found] as const];
    });
    return new Map([...sweep.checked(), ...answers, ...sequencer.checked()]);
  }

  /** Reads what the process that sequences has found and signed. */
  async function look(): Promise<void> {
    const nowMs = clock.steadyMs();
    if (nowMs - lookedAtMs < lookMs) return;
    const [records, stored] = await Promise.all([readAuditRecords(stateStore), readHead()]);
    [head, keepProblem, lookedAtMs] = [stored, null, nowMs];
    know({ signed: records.signed?.value ?? null, findings: records.findings });
    if (head !== null) turn.ask.askElsewhere(signed, head);
    try {
      if (signed !== null) await signer.keep(signed);
    } catch (error) {
      if (error instanceof FolderProblem) keepProblem = error.message;
      throw error;
    }
  }

  /** The process that sequences reports damaged tiles. They hide neither its problem nor its findings. */
  async function readHead(): Promise<LogHead | null> {
    try {
      return await tiles.readHead();
    } catch (error) {
      if (error instanceof TilesDamaged) return null;
      throw error;
    }
  }

  function know(next: { readonly signed: SignedRecord | null; readonly findings: Findings }): void {
    const sourcesOf = (known: Findings | null): string =>
      (known?.contradictions ?? []).map(({ source }) => source).join('\n');
    if (sourcesOf(next.findings) !== sourcesOf(findings)) events.onFindings(next.findings.contradictions);
    ({ signed, findings } = next);
  }
}
