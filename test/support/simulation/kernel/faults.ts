import type { Clock, Random } from '../../../../src/kit/time/clock.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';

/**
 * The fault of one call: it fails before its effect, fails after it, has its effect later, or has no answer until its
 * time limit.
 */
export type Fault = 'before' | 'after' | 'late' | 'hang';

export interface Fate {
  readonly fault: Fault | null;
  /** The duration of the call in milliseconds. Half of it comes before the effect. */
  readonly delayMs: number;
  /** The time between the failure and a late effect, in milliseconds. */
  readonly lateMs: number;
}

/** Returns the fate of a call by its name, like `append`. */
export type FaultPlan = (operation: string) => Fate;

const callLimitMs = 5_000;
const fine: Fate = { fault: null, delayMs: 0, lateMs: 0 };

export const noFaults: FaultPlan = () => fine;

/** Makes only the n-th call (from 1) fail of those that `matches` accepts. */
export function failNth(
  n: number,
  fault: Fault,
  matches: (operation: string) => boolean = () => true,
): FaultPlan & { readonly calls: () => number } {
  let calls = 0;
  const plan: FaultPlan = (operation) => {
    if (!matches(operation)) return fine;
    calls += 1;
    return calls === n ? { fault, delayMs: 0, lateMs: 700 } : fine;
  };
  return Object.assign(plan, { calls: () => calls });
}

/** Makes calls fail at the given rate. Each takes up to `delayMsMax`. */
export function randomFaults(
  random: Random,
  { rate, delayMsMax }: { readonly rate: number; readonly delayMsMax: number },
): FaultPlan {
  const faults: readonly Fault[] = ['before', 'after', 'late', 'hang'];
  return () => ({
    fault: random() < rate ? (faults[Math.floor(random() * faults.length)] ?? null) : null,
    delayMs: Math.floor(random() * delayMsMax),
    lateMs: Math.floor(random() * 20_000),
  });
}

/** Makes a call with its fate. */
export type FaultyCall = <Result>(
  operation: string,
  effect: () => Promise<Result>,
  options?: { readonly unknown?: boolean; readonly signal?: AbortSignal | undefined },
) => Promise<Result>;

/** @param deps.gate awaited before and after each effect, so that a test can pause a process */
export function makeFaultyCall(deps: {
  readonly clock: Clock;
  readonly plan: FaultPlan;
  readonly gate?: () => Promise<void>;
}): FaultyCall {
  const { clock, plan, gate = () => Promise.resolve() } = deps;
  return async (operation, effect, { unknown = false, signal } = {}) => {
    const { fault, delayMs, lateMs } = plan(operation);
    const failure = (): StoreUnavailable =>
      unknown
        ? new OutcomeUnknown(`${operation}: no answer`)
        : new StoreUnavailable(`${operation}: no answer`);
    if (delayMs > 0) await clock.sleep(delayMs / 2);
    await gate();
    switch (fault) {
      case 'before':
        throw new StoreUnavailable(`${operation}: refused`);
      case 'hang':
        await clock.sleep(callLimitMs, signal).catch(() => undefined);
        throw failure();
      case 'late':
        void clock.sleep(lateMs).then(effect).catch(ignore);
        throw failure();
      case 'after':
        await effect();
        throw failure();
      case null: {
        const result = await effect();
        if (delayMs > 0) await clock.sleep(delayMs / 2);
        await gate();
        return result;
      }
    }
  };
}

/** No caller is left that could handle the failure of a late effect. */
function ignore(): void {
  // Nothing to do.
}
