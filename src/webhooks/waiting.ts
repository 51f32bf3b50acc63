import { z } from 'zod';
import type { StoredEvent } from '../event-sourcing/ports/domain-event.js';

/** The time for which the service tries to deliver an event. */
export const triesMs = 3 * 24 * 60 * 60 * 1_000;
/** No event waits for longer until its next attempt, also where the receiver asks for it. */
export const retryWaitMax = 60 * 60 * 1_000;
const firstRetryMs = 5_000;

const revision = z.int().nonnegative();

/**
 * Storage format of `outbox/webhook/<endpoint>/<stream>`: the events of one stream that the checkpoint of the endpoint has passed
 * without a delivery. They are delivered one after the other, so they stay in order.
 */
export const waitingSchema = z.strictObject({
  /** The revision of the first event to deliver. */
  next: revision,
  /** The revision of the last event that the checkpoint has passed. */
  until: revision,
  /** The messages among these events. */
  pending: z.int().nonnegative(),
  /** Failed attempts for the first event. */
  failures: z.int().nonnegative(),
  /** No attempt before this time. */
  not_before: z.iso.datetime(),
  /** Since when events of the stream wait, or those that came last where they were three days late. */
  since: z.iso.datetime(),
});
export type Waiting = z.infer<typeof waitingSchema>;

type PassedEvent = Pick<StoredEvent, 'revision' | 'recordedAt'>;

/** Returns the record after the checkpoint passes an event. */
export function withEvent(found: Waiting | null, event: PassedEvent, now: Date): Waiting {
  const [at, time] = [Number(event.revision), now.toISOString()];
  if (found === null) return { next: at, until: at, pending: 1, failures: 0, not_before: time, since: time };
  // An event up to `until` waits, or was delivered before the checkpoint went back to it.
  if (at <= found.until) return found;
  // An event that came while the endpoint was stopped begins to wait only now.
  const since = isOver(found, event, now) ? time : found.since;
  return { ...found, until: at, pending: found.pending + 1, since };
}

/** What an attempt did to the first waiting events. */
export interface AttemptResult {
  /** The `next` that the attempt read. */
  readonly from: number;
  /** The first event that it has not settled. */
  readonly to: number;
  /** The messages among those that it has settled. */
  readonly settled: number;
  /** The attempt, where it failed. */
  readonly failed: { readonly waitMs: number } | null;
}

/** Returns the record after an attempt; null when nothing waits. */
export function afterAttempt(
  found: Waiting,
  { from, to, settled, failed }: AttemptResult,
  { now, random }: { readonly now: Date; readonly random: () => number },
): Waiting | null {
  // An operator may have begun an earlier replay, and another process may have delivered more.
  const next = found.next < from ? found.next : Math.max(found.next, to);
  if (next > found.until) return null;
  const pending = Math.max(1, found.pending - settled);
  if (failed === null) return { ...found, next, pending, failures: 0, not_before: now.toISOString() };
  const waitMs = Math.max(failed.waitMs, retryAfterMs(found.failures, random));
  const not_before = new Date(now.getTime() + waitMs).toISOString();
  // A time ahead is of a clock that was set back since.
  const since = new Date(Math.min(Date.parse(found.since), now.getTime())).toISOString();
  return { ...found, next, pending, failures: found.failures + 1, not_before, since };
}

/** Returns whether the service gives an event up after a failed attempt. */
export function isOver({ since }: Waiting, event: Pick<PassedEvent, 'recordedAt'>, now: Date): boolean {
  const recordedMs = event.recordedAt.getTime();
  // One that is further ahead was recorded while a clock was ahead.
  const beganMs = recordedMs - now.getTime() > triesMs ? 0 : recordedMs;
  return now.getTime() >= Math.max(Date.parse(since), beganMs) + triesMs;
}

/** Returns the wait before the next attempt: half of a doubled 5 s, at most 1 h, and a random part of the other half. */
export function retryAfterMs(failures: number, random: () => number): number {
  const fullMs = Math.min(retryWaitMax, firstRetryMs * 2 ** Math.min(failures, 30));
  return Math.round((fullMs * (1 + random())) / 2);
}
