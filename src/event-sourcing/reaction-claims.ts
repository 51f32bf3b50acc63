import { z } from 'zod';
import type { Clock } from './clock.js';
import type { StateStore } from './state-store.js';

/** How long a claim lasts: longer than an effect (45 s) and its outcome's append (15 s) may take. */
export const claimMs = 60_000;
/** How long a claim that ended is remembered, for the number of tries in it. */
const rememberedMs = 600_000;
/** Whoever lost a race for a claim looks again then. */
const lostRaceMs = 1_000;

/** Storage format of a claim, `reaction/<name>/<event id>`. */
const claimSchema = z.strictObject({
  /** The process that took it. */
  holder: z.string(),
  /** How many tries have failed, whoever made them. */
  failures: z.int().nonnegative(),
  /** Until then nobody else tries. */
  until: z.iso.datetime(),
});

export interface Claim {
  readonly key: string;
  readonly version: string;
  readonly failures: number;
  /** When the claim was asked for: it lasts 60 s from here. */
  readonly takenAtMs: number;
}

/** The right to run an event's effect, which one process has at a time. */
export interface Claims {
  /** @returns the claim, or when to look again because another process has it. @throws StoreUnavailable */
  take(eventId: string): Promise<Claim | { readonly heldUntilMs: number }>;
  /** After a failure: nobody else tries before `untilMs`. One that was lost meanwhile stays lost. @throws StoreUnavailable */
  putOff(claim: Claim, untilMs: number): Promise<void>;
}

/** @param deps.holder tells this process from all others, also from the one before it in its place */
export function makeClaims(
  deps: { readonly stateStore: StateStore; readonly clock: Clock; readonly holder: string },
  reaction: string,
): Claims {
  const { stateStore, clock, holder } = deps;
  return {
    take: async (eventId) => {
      const key = `reaction/${reaction}/${eventId}`;
      const takenAtMs = clock.now().getTime();
      const record = await stateStore.get(key);
      const before = record === null ? null : claimSchema.parse(record.value);
      const untilMs = before === null ? 0 : Date.parse(before.until);
      // Our own may be left from a try whose answer got lost: we are the only ones who could be using it.
      if (before !== null && before.holder !== holder && untilMs > takenAtMs) return { heldUntilMs: untilMs };
      const failures = before?.failures ?? 0;
      const version = await write(key, record?.version ?? null, { failures, untilMs: takenAtMs + claimMs });
      return version === null
        ? { heldUntilMs: takenAtMs + lostRaceMs }
        : { key, version, failures, takenAtMs };
    },
    putOff: async ({ key, version, failures }, untilMs) => {
      await write(key, version, { failures: failures + 1, untilMs });
    },
  };

  function write(
    key: string,
    expected: string | null,
    { failures, untilMs }: { readonly failures: number; readonly untilMs: number },
  ): Promise<string | null> {
    const value = { holder, failures, until: new Date(untilMs).toISOString() };
    return stateStore.compareAndSet(key, expected, value, { expiresAt: new Date(untilMs + rememberedMs) });
  }
}
