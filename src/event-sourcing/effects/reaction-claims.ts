import { z } from 'zod';
import type { Clock } from '../../kit/time/clock.js';
import type { StateStore } from '../ports/state-store.js';
import { changeRecord } from '../ports/change-record.js';

/** The duration of a claim: an effect (45 s) and the append of its outcome (15 s). */
export const claimMs = 60_000;
/** How long an ended claim stays stored, for its count of failures. */
const retentionMs = 600_000;
/** The wait after a lost race for a claim. */
const lostRaceMs = 1_000;

/** Storage format of a claim, `reaction/<name>/<event id>`. */
const claimSchema = z.object({
  holder: z.string(),
  /** Failed attempts of all processes. */
  failures: z.int().nonnegative(),
  /** No other process takes the claim before this time. */
  until: z.iso.datetime(),
});

export interface Claim {
  readonly key: string;
  readonly version: string;
  readonly failures: number;
  /** The time of the steady clock before the write of the claim, which lasts 60 s from here. */
  readonly takenAtMs: number;
}

/** The claim of another process, and its version. Null: it was taken meanwhile. */
interface HeldClaim {
  readonly heldUntilMs: number;
  readonly version: string | null;
}

/** The claims of a reaction: only the process that holds the claim of an event runs its effect. */
export type Claims = ReturnType<typeof makeClaims>;

/** @param deps.holder an id of this process, which a restart changes */
export function makeClaims(
  deps: { readonly stateStore: StateStore; readonly clock: Clock; readonly holder: string },
  reaction: string,
) {
  const { stateStore, clock, holder } = deps;
  return {
    /**
     * @param ended the version of a claim that has ended, also where its `until` is in the future; null: none
     * @returns the claim, or when to try again because another process holds it @throws StoreUnavailable
     */
    take: async (eventId: string, ended: string | null): Promise<Claim | HeldClaim> => {
      const key = `reaction/${reaction}/${eventId}`;
      const [nowMs, takenAtMs] = [clock.now().getTime(), clock.steadyMs()];
      const taken = await changeRecord(
        stateStore,
        { key, schema: claimSchema },
        (found) => {
          const untilMs = found === null ? 0 : Date.parse(found.value.until);
          // An attempt with an unknown outcome may have left a claim of this process, which may take it again.
          const isHeld =
            found !== null && found.value.holder !== holder && found.version !== ended && untilMs > nowMs;
          if (isHeld) return { keep: { heldUntilMs: untilMs, version: found.version } };
          const failures = found?.value.failures ?? 0;
          return { ...claimOf(failures, nowMs + claimMs), result: failures };
        },
        { tries: 1 },
      );
      if (taken === null) return { heldUntilMs: nowMs + lostRaceMs, version: null };
      if ('kept' in taken) return taken.kept;
      return { key, version: taken.version, failures: taken.result, takenAtMs };
    },
    /** Records a failure and holds the claim until `untilMs`, unless another process has it. @throws StoreUnavailable */
    putOff: async ({ key, version, failures }: Claim, untilMs: number): Promise<void> => {
      const { write, expiresAt } = claimOf(failures + 1, untilMs);
      await stateStore.compareAndSet(key, version, write, { expiresAt });
    },
  };

  function claimOf(failures: number, untilMs: number) {
    const write = { holder, failures, until: new Date(untilMs).toISOString() };
    return { write, expiresAt: new Date(untilMs + retentionMs) };
  }
}
