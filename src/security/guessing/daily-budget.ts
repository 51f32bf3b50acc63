import { z } from 'zod';
import { makeKeyedMutex } from '../../kit/keyed-mutex.js';
import { Overloaded } from '../../kit/overloaded.js';
import type { Clock } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StateRecord, StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord } from '../../event-sourcing/ports/change-record.js';
import type { Digests } from '../../keys/sealing/digests.js';
import {
  countDaily,
  type DailyEntry,
  type DailyLimit,
  dailyWaitMs,
  periodAt,
  periodForgottenAtMs,
  withdrawDaily,
} from './daily-count.js';
import { isUndecided } from './undecided.js';

export interface BudgetOf {
  /** The digest of an address, with or without an account, or a share with the generation of its password. */
  readonly subject: string;
  /** A digest; empty where networks do not count separately. */
  readonly network: string;
}

/** The budget has no room. */
export interface BudgetFull {
  readonly outcome: 'full';
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;
  /** No mail within 24 h said that this budget is full. */
  readonly isNews: boolean;
}

export type BudgetOutcome<T> =
  | { readonly outcome: 'passed'; readonly value: T }
  /** `filled`: this failure was the last one that had room. */
  | { readonly outcome: 'failed'; readonly filled: boolean }
  | BudgetFull;

/**
 * Bounds the failures at a secret in any 24 hours, over all clients and processes, exactly: docs/design.md#guessing.
 */
export interface DailyBudget {
  /** Reads whether there is room, and writes nothing. Its `run` reads nothing more unless another writer is faster. */
  look(of: BudgetOf): Promise<BudgetFull | { readonly outcome: 'room'; readonly run: BudgetRun }>;
  /** Remembers for 24 h that a mail says so. @throws StoreUnavailable */
  markTold(subject: string): Promise<void>;
}

/**
 * Counts a failure, runs the check, and takes the failure back after a success or an undecided check. Any other error
 * of the check stays a failure, because it may depend on the secret.
 * @param check returns the value of a success, or null for a failure
 * @throws StoreUnavailable when it cannot count; Overloaded when too many attempts write the same record
 */
export type BudgetRun = <T>(check: () => Promise<T | null>) => Promise<BudgetOutcome<T>>;

/** The storage format of a record. */
const recordSchema = z.strictObject({
  counts: z.array(z.tuple([z.int(), z.string(), z.int().positive()])),
  told_at: z.iso.datetime().nullable(),
});

interface Budget {
  readonly entries: readonly DailyEntry[];
  readonly toldAtMs: number | null;
}

const empty: Budget = { entries: [], toldAtMs: null };
const dayMs = 86_400_000;
/** Strangers in several processes compete for the record of one account. */
const writeTriesMax = 60;
/** Attempts at one secret that count or wait for it in this process. */
const waitingMax = 256;

/** @param name separates the records of this secret from those of others */
export function makeDailyBudget({
  name,
  limit,
  stateStore,
  digests,
  clock,
}: {
  readonly name: string;
  readonly limit: DailyLimit;
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
}): DailyBudget {
  // All failures at one secret share a record. In sequence, the attempts of this process do not outrun each other.
  const inTurn = makeKeyedMutex({ waitingMax });

  const recordOf = (subject: string) => `budget/${digests.of('budget', JSON.stringify([name, subject]))}`;

  async function change<Written, Kept>(
    key: string,
    decide: (budget: Budget, nowMs: number) => { keep: Kept } | { next: Budget; result: Written },
    first?: StateRecord | null,
  ) {
    const changed = await inTurn(key, () =>
      changeRecord(
        stateStore,
        { key, schema: recordSchema },
        (found) => {
          const nowMs = clock.now().getTime();
          const decided = decide(found === null ? empty : budgetOf(found.value), nowMs);
          if ('keep' in decided) return decided;
          const { next, result } = decided;
          return { ...recordFor(next), result: { written: result, next } };
        },
        { tries: writeTriesMax, ...(first === undefined ? {} : { first }) },
      ),
    );
    if (changed === null) throw new Overloaded('too many attempts at once');
    return changed;
  }

  function fullOf({ entries, toldAtMs }: Budget, network: string, nowMs: number): BudgetFull | null {
    const waitMs = dailyWaitMs(limit, entries, network, nowMs);
    if (waitMs === 0) return null;
    const isNews = toldAtMs === null || nowMs - toldAtMs >= dayMs;
    return { outcome: 'full', retryAfterSeconds: Math.ceil(waitMs / 1_000), isNews };
  }

  /** Counts a failure. Returns how to take it back, or the refusal. */
  async function take(key: string, network: string, first: StateRecord | null) {
    const taken = await change<{ readonly filled: boolean; readonly period: number }, BudgetFull>(
      key,
      (budget, nowMs) => {
        const full = fullOf(budget, network, nowMs);
        if (full !== null) return { keep: full };
        const next = { ...budget, entries: countDaily(budget.entries, network, nowMs) };
        const after = fullOf(next, network, nowMs);
        return { next, result: { filled: after?.isNews ?? false, period: periodAt(nowMs) } };
      },
      first,
    );
    if ('kept' in taken) return taken.kept;
    const { written, next } = taken.result;
    const record = recordFor(next);
    const now: StateRecord | null =
      record.write === null
        ? null
        : { key, value: record.write, version: taken.version, expiresAt: record.expiresAt };
    const counted = { period: written.period, network };
    return { filled: written.filled, undo: () => undo(key, counted, now) };
  }

  /** A failure that stays, because the store is away or busy, is forgotten after a day. */
  async function undo(
    key: string,
    counted: Pick<DailyEntry, 'period' | 'network'>,
    first: StateRecord | null,
  ): Promise<void> {
    try {
      await change(
        key,
        (budget) => {
          if (budget.entries.length === 0) return { keep: null };
          return { next: { ...budget, entries: withdrawDaily(budget.entries, counted) }, result: null };
        },
        first,
      );
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof Overloaded)) throw error;
    }
  }

  return {
    look: async ({ subject, network }) => {
      const key = recordOf(subject);
      const record = await stateStore.get(key);
      const budget = record === null ? empty : budgetOf(recordSchema.parse(record.value));
      const full = fullOf(budget, network, clock.now().getTime());
      if (full !== null) return full;
      const run: BudgetRun = async (check) => {
        const taken = await take(key, network, record);
        if ('outcome' in taken) return taken;
        const value = await check().catch(async (error: unknown) => {
          if (isUndecided(error)) await taken.undo();
          throw error;
        });
        if (value === null) return { outcome: 'failed', filled: taken.filled };
        await taken.undo();
        return { outcome: 'passed', value };
      };
      return { outcome: 'room', run };
    },
    markTold: async (subject) => {
      await change(recordOf(subject), (budget, nowMs) =>
        budget.entries.length === 0 ? { keep: null } : { next: { ...budget, toldAtMs: nowMs }, result: null },
      );
    },
  };
}

function budgetOf({ counts, told_at: toldAt }: z.output<typeof recordSchema>): Budget {
  const entries = counts.map(([period, network, failures]) => ({ period, network, failures }));
  return { entries, toldAtMs: toldAt === null ? null : Date.parse(toldAt) };
}

/** A record expires with its last failure. */
function recordFor({ entries, toldAtMs }: Budget) {
  const last = entries.reduce((latest, { period }) => Math.max(latest, period), -1);
  if (last === -1) return { write: null };
  const counts = entries.map(({ period, network, failures }) => [period, network, failures]);
  const told_at = toldAtMs === null ? null : new Date(toldAtMs).toISOString();
  return { write: { counts, told_at }, expiresAt: new Date(periodForgottenAtMs(last)) };
}
