import { z } from 'zod';

/** The waits of one client after failures: src/security/README.md#guessing. Times in milliseconds. */
export interface Backoff {
  /** Failures without any wait. */
  readonly free: number;
  /** The wait after the last free failure; each further failure doubles it. */
  readonly firstWaitMs: number;
  readonly waitMsMax: number;
  /** After the wait, each further period of this length removes one failure. */
  readonly forgetMs: number;
}

/** The largest number of failures in any 24 hours. */
interface DayLimit {
  readonly limit: number;
  /** Those of one known device; the whole limit when left out. */
  readonly ofOne?: number;
}

/** What the failures at a subject lead to: waits of the client, and the bounds of a day. */
export interface FailureLimits {
  readonly backoff: Backoff;
  readonly day: Readonly<Record<'known' | 'unknown', DayLimit>>;
}

/**
 * The storage format: the failures at one subject. Times in epoch milliseconds. A key is a digest behind `d` for a known
 * device, and behind `n` for the network of any other client.
 */
export const failuresSchema = z.strictObject({
  clients: z.array(z.strictObject({ key: z.string(), failures: z.int().positive(), at: z.int() })),
  /** By periods of 15 minutes, counted from 1970. All clients that are no known device count under an empty key. */
  days: z.array(z.strictObject({ period: z.int(), key: z.string(), failures: z.int().positive() })),
  /** When work began that tells the owner of a full day; null: not in the last one. */
  told_at: z.int().nullable(),
});
export type Failures = z.output<typeof failuresSchema>;
type ClientFailures = Failures['clients'][number];
type DayFailures = Failures['days'];

export const noFailures: Failures = { clients: [], days: [], told_at: null };

/** More clients that fail at a subject take the places of those with the fewest failures. */
const clientsMax = 100;
const periodMs = 900_000;
const dayMs = 86_400_000;

/**
 * Returns the milliseconds until the client may try; 0: now. A refused attempt counts nowhere, so the right secret passes as soon
 * as the wait is over.
 */
export function waitMs(limits: FailureLimits, state: Failures, key: string, nowMs: number): number {
  return Math.max(
    backoffMs(limits.backoff, clientOf(state, key), nowMs),
    dayWaitMs(limits, state, key, nowMs),
  );
}

/** A failure of a day counts for 24 h to 24 h 15 min, so no 24 hours contain more than the limit. */
function dayWaitMs({ day }: FailureLimits, { days }: Failures, key: string, nowMs: number): number {
  const ofDay = dayKeyOf(key);
  const part = stillCounting(days, nowMs).filter((entry) => (entry.key === '') === (ofDay === ''));
  const { limit, ofOne = limit } = day[ofDay === '' ? 'unknown' : 'known'];
  const own = part.filter((entry) => entry.key === ofDay);
  return Math.max(untilRoom(part, limit, nowMs), untilRoom(own, ofOne, nowMs));
}

/** Returns whether the day has no room for a failure of the client, and the owner was not told of it within 24 h. */
export function isNews(limits: FailureLimits, state: Failures, key: string, nowMs: number): boolean {
  const toldMs = state.told_at === null ? Infinity : nowMs - state.told_at;
  // No clock of another process is so far ahead: this clock was set back.
  const isTold = toldMs < dayMs && toldMs > -periodMs;
  return !isTold && dayWaitMs(limits, state, key, nowMs) > 0;
}

/** Returns the failures of all clients in the last 24 h, or since the beginning of the period before this one. */
export function failuresSince(state: Failures, nowMs: number, since: 'day' | 'period'): number {
  const first = since === 'day' ? -Infinity : periodAt(nowMs) - 1;
  return sumOf(stillCounting(state.days, nowMs).filter(({ period }) => period >= first));
}

/** Returns the failures with one more, without those that time has removed. */
export function counted({ backoff }: FailureLimits, state: Failures, key: string, nowMs: number): Failures {
  const before = clientOf(state, key);
  const still = stillCounted(backoff, before, nowMs);
  // Failures beyond the longest wait are not counted: they would only take longer to forget.
  const failures = waitAfter(backoff, still) < backoff.waitMsMax ? still + 1 : still;
  const others = state.clients.filter((one) => one !== before && forgottenAtMs(backoff, one) > nowMs);
  const [period, ofDay, days] = [periodAt(nowMs), dayKeyOf(key), stillCounting(state.days, nowMs)];
  const isSame = (entry: DayFailures[number]) => entry.period === period && entry.key === ofDay;
  const ofPeriod = (days.find(isSame)?.failures ?? 0) + 1;
  return {
    ...state,
    clients: [...bounded(others), { key, failures, at: nowMs }],
    days: [...days.filter((entry) => !isSame(entry)), { period, key: ofDay, failures: ofPeriod }],
  };
}

/** An attempt that counted as a failure before its check. */
export type Counted = { readonly key: string; readonly before: Failures; readonly after: Failures };

/**
 * Takes the failure back. After a success, all failures of the client are forgotten. After a check that decided nothing, its wait
 * is as it was, unless another attempt of the client has counted meanwhile: then the wait belongs to that one.
 */
export function withdrawn(state: Failures, { key, before, after }: Counted, isSuccess: boolean): Failures {
  const ofDay = dayKeyOf(key);
  const period = after.days.at(-1)?.period;
  const days = state.days.map((entry) =>
    entry.period === period && entry.key === ofDay ? { ...entry, failures: entry.failures - 1 } : entry,
  );
  const [mine, was] = [clientOf(state, key), clientOf(before, key)];
  const isUnchanged =
    mine?.at === clientOf(after, key)?.at && mine?.failures === clientOf(after, key)?.failures;
  const restored = isUnchanged ? was : mine && { ...mine, failures: mine.failures - 1 };
  const clients = [
    ...state.clients.filter((one) => one !== mine),
    ...(restored && !isSuccess ? [restored] : []),
  ];
  const counts = ({ failures }: { readonly failures: number }) => failures > 0;
  return { ...state, clients: clients.filter(counts), days: days.filter(counts) };
}

/** Returns when the last failure is forgotten, in epoch milliseconds; null where there is none. */
export function lastForgottenAtMs({ backoff }: FailureLimits, { clients, days }: Failures): number | null {
  const ends = [
    ...clients.map((one) => forgottenAtMs(backoff, one)),
    ...days.map(({ period }) => periodEndMs(period)),
  ];
  return ends.length === 0 ? null : Math.max(...ends);
}

function clientOf({ clients }: Failures, key: string): ClientFailures | undefined {
  return clients.find((one) => one.key === key);
}

function dayKeyOf(key: string): string {
  return key.startsWith('d') ? key : '';
}

/** Makes room for one more. Strangers take no place of a known device. */
function bounded(clients: readonly ClientFailures[]): readonly ClientFailures[] {
  if (clients.length < clientsMax) return clients;
  const rank = ({ key }: ClientFailures) => (key.startsWith('d') ? 1 : 0);
  const inOrder = clients.toSorted(
    (one, other) => rank(one) - rank(other) || one.failures - other.failures || one.at - other.at,
  );
  return inOrder.slice(clients.length - clientsMax + 1);
}

/** If `forgetMs` is the longest wait, any W ms pass at most W / `forgetMs` failures beyond those that lead to the longest wait. */
function backoffMs(backoff: Backoff, client: ClientFailures | undefined, nowMs: number): number {
  // No clock of another process is so far ahead: this clock was set back. The attempt counts with the present time.
  if (client === undefined || client.at - nowMs > backoff.waitMsMax) return 0;
  return Math.max(0, waitAfter(backoff, client.failures) - Math.max(0, nowMs - client.at));
}

function waitAfter({ free, firstWaitMs, waitMsMax }: Backoff, failures: number): number {
  return failures < free ? 0 : Math.min(waitMsMax, firstWaitMs * 2 ** (failures - free));
}

function stillCounted(backoff: Backoff, client: ClientFailures | undefined, nowMs: number): number {
  if (client === undefined) return 0;
  const quietMs = nowMs - client.at - waitAfter(backoff, client.failures);
  return Math.max(0, client.failures - Math.max(0, Math.floor(quietMs / backoff.forgetMs)));
}

function forgottenAtMs(backoff: Backoff, { failures, at }: ClientFailures): number {
  return at + waitAfter(backoff, failures) + failures * backoff.forgetMs;
}

function sumOf(days: DayFailures): number {
  return days.reduce((sum, { failures }) => sum + failures, 0);
}

function periodAt(nowMs: number): number {
  return Math.floor(nowMs / periodMs);
}

/** Returns when the failures of a period are forgotten: 24 h after its end. */
function periodEndMs(period: number): number {
  return (period + 1) * periodMs + dayMs;
}

function stillCounting(days: DayFailures, nowMs: number): DayFailures {
  // Periods further ahead are of a clock that was set back since, and would count until they have passed.
  return days.filter(({ period }) => periodEndMs(period) > nowMs && period <= periodAt(nowMs) + 1);
}

/** Finds the period whose end brings the sum below the limit. */
function untilRoom(days: DayFailures, limit: number, nowMs: number): number {
  let left = sumOf(days);
  if (left < limit) return 0;
  for (const { period, failures } of days.toSorted((one, other) => one.period - other.period)) {
    left -= failures;
    if (left < limit) return periodEndMs(period) - nowMs;
  }
  return dayMs;
}
