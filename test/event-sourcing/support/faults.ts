import type { Clock, Random } from '../../../src/event-sourcing/clock.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/errors.js';

/**
 * What goes wrong with one call: it fails before its effect, after it, has its effect only later, or is not answered
 * until its time is up.
 */
export type Fault = 'before' | 'after' | 'late' | 'hang';

export interface Fate {
  readonly fault: Fault | null;
  /** How long the call takes, half of it before the effect. */
  readonly delayMs: number;
  /** How much later than its failure a late effect comes. */
  readonly lateMs: number;
}

/** Settles the fate of each call by its name, such as `append`. */
export type FaultPlan = (operation: string) => Fate;

const callLimitMs = 5_000;
const fine: Fate = { fault: null, delayMs: 0, lateMs: 0 };

export const noFaults: FaultPlan = () => fine;

/** The n-th call (from 1) of those that `matches` accepts goes wrong, and no other. */
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

/** Calls that go wrong at the rate given, each taking up to `delayMsMax`. */
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

/** Makes a call that suffers its fate. */
export type FaultyCall = <Result>(
  operation: string,
  effect: () => Promise<Result>,
  options?: { readonly unknown?: boolean; readonly signal?: AbortSignal | undefined },
) => Promise<Result>;

/** @param deps.gate waited for before and after each effect: how a process is held still from outside */
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

/** Nobody is left to hear what became of a late effect. */
function ignore(): void {
  // Nothing to do.
}
