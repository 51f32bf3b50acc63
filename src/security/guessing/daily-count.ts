/** The largest number of failures at one secret in any 24 hours: docs/design.md#guessing. */
export interface DailyLimit {
  readonly limit: number;
  /** The share of one network, where the networks are known; the whole limit when left out. */
  readonly ofOneNetwork?: number;
}

/** The failures of one network in one period of 15 minutes, whose number counts from 1970. */
export interface DailyEntry {
  readonly period: number;
  /** A digest; empty where networks do not count separately. */
  readonly network: string;
  readonly failures: number;
}

const periodMs = 900_000;
const dayMs = 86_400_000;

/** Returns the period of a time in epoch milliseconds. */
export function periodAt(nowMs: number): number {
  return Math.floor(nowMs / periodMs);
}

/** Returns when the failures of a period are forgotten (epoch milliseconds): 24 h after its end. */
export function periodForgottenAtMs(period: number): number {
  return (period + 1) * periodMs + dayMs;
}

/**
 * Returns the milliseconds until one more failure of the network has room; 0 when it has. A failure counts for 24 h to
 * 24 h 15 min, so no 24 hours contain more than the limit.
 */
export function dailyWaitMs(
  { limit, ofOneNetwork = limit }: DailyLimit,
  entries: readonly DailyEntry[],
  network: string,
  nowMs: number,
): number {
  const counting = stillCounting(entries, nowMs);
  const own = counting.filter((entry) => entry.network === network);
  return Math.max(waitFor(counting, limit, nowMs), waitFor(own, ofOneNetwork, nowMs));
}

/** Returns the entries with one failure more, without those that time has removed. */
export function countDaily(
  entries: readonly DailyEntry[],
  network: string,
  nowMs: number,
): readonly DailyEntry[] {
  const period = periodAt(nowMs);
  const counting = stillCounting(entries, nowMs);
  const isSame = (entry: DailyEntry) => entry.period === period && entry.network === network;
  const failures = (counting.find(isSame)?.failures ?? 0) + 1;
  return [...counting.filter((entry) => !isSame(entry)), { period, network, failures }];
}

/** Takes one failure of a period back. */
export function withdrawDaily(
  entries: readonly DailyEntry[],
  { period, network }: Pick<DailyEntry, 'period' | 'network'>,
): readonly DailyEntry[] {
  return entries.flatMap((entry) => {
    if (entry.period !== period || entry.network !== network) return [entry];
    return entry.failures === 1 ? [] : [{ ...entry, failures: entry.failures - 1 }];
  });
}

function stillCounting(entries: readonly DailyEntry[], nowMs: number): readonly DailyEntry[] {
  return entries.filter(({ period }) => periodForgottenAtMs(period) > nowMs);
}

/** Finds the period whose end brings the sum below the limit. */
function waitFor(entries: readonly DailyEntry[], limit: number, nowMs: number): number {
  let left = entries.reduce((sum, { failures }) => sum + failures, 0);
  if (left < limit) return 0;
  for (const { period, failures } of entries.toSorted((one, other) => one.period - other.period)) {
    left -= failures;
    if (left < limit) return periodForgottenAtMs(period) - nowMs;
  }
  return dayMs;
}
