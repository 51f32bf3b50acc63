import { toError } from '../../kit/errors.js';
import { rejectedBy } from '../../kit/time/time-limit.js';
import { inTraceOf } from '../../kit/trace.js';
import { type Quarantine, referenceTo } from '../feeding/quarantine.js';
import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import type { DomainEvent } from '../ports/domain-event.js';
import { StoreDamaged, UndecodableEvent } from '../ports/errors.js';
import { type AnyReaction, contextFor, type ReactionEvent } from './reaction.js';
import { type Claim, claimMs, type Claims } from './reaction-claims.js';
import { type ReactionTimers, timerAfterMs } from './reaction-timers.js';

/**
 * The end of a turn: the event is settled, or has a timer; it is quarantined; it needs another turn after a wait, or at once with a
 * permit of its account.
 */
export type Turn = 'settled' | 'quarantined' | 'needs-permit' | { readonly againInMs: number };

/** Whether a turn has a permit of the event's account. `full`: too many wait for one, so a timer keeps the event. */
export type AccountPermit = 'none' | 'taken' | 'full';

/** How the turns of an event ended. `ended`: the process ends before. */
export type Served = 'settled' | 'quarantined' | 'ended';

/** The time of an effect from `Claim.takenAtMs` on. The rest of the claim is for the append of the outcome. */
const effectMs = 45_000;
const askAgainMs = 1_000;
const retry = { first: 1_000, cap: 60_000 };
/** The wait of an event where too many of its account wait already. */
const crowdedMs = 5 * 60_000;
/** A claim that is seen unchanged for this time has ended: its holder died while its clock was ahead. */
const unchangedMs = retry.cap + claimMs;

interface TurnDeps {
  readonly reaction: AnyReaction;
  readonly claims: Claims;
  readonly timers: ReactionTimers;
  readonly quarantine: Pick<Quarantine, 'attempt'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Cuts off the effect when the process ends. */
  readonly cutOff: AbortSignal;
  /** Receives every failure before its retry. */
  readonly onRetry: (error: Error, failures: number) => void;
}

/**
 * Makes the function that serves one event, turn by turn, until it is settled or quarantined.
 * @returns a turn. It throws only StoreDamaged, and the error of an event too many that cannot be served
 */
export function makeReactionTurn(deps: TurnDeps, event: ReactionEvent<DomainEvent>) {
  const { reaction, claims, timers, quarantine, clock, random, cutOff, onRetry } = deps;
  const deadlineMs = reaction.deadline?.(event)?.getTime() ?? Infinity;
  const context = contextFor(reaction, event);
  let failures = 0;
  /** The turns that found the claim of another process. */
  let held = 0;
  /** The claim of another process, and the steady time since when it is unchanged. */
  let other: { readonly version: string | null; readonly sinceMs: number } | null = null;
  /** The result of the effect. Once it is set, a retry only appends the outcome. */
  let performed: { readonly result: unknown } | null = null;
  let claim: Claim | null = null;

  return (permit: AccountPermit): Promise<Turn> =>
    inTraceOf(event.metadata.correlation_id, () => turnOrRetry(permit));

  async function turnOrRetry(permit: AccountPermit): Promise<Turn> {
    claim = null;
    try {
      return (await quarantine.attempt(event.id, () => turn(permit), referenceTo(event))) ?? 'quarantined';
    } catch (error) {
      if (error instanceof UndecodableEvent || error instanceof StoreDamaged) throw error;
      onRetry(toError(error), failures);
      return await putOff();
    }
  }

  async function turn(permit: AccountPermit): Promise<Turn> {
    if (performed === null && clock.now().getTime() >= deadlineMs) return 'settled';
    // Asks before the claim too: after a lost checkpoint most events are settled, and a read is cheaper than a claim.
    const asked = await ask();
    if (asked !== 'yes') return asked;
    if (performed === null && reaction.account !== undefined && permit !== 'taken') {
      return permit === 'none' ? 'needs-permit' : setTimer(new Date(clock.now().getTime() + crowdedMs));
    }
    if (reaction.perform === undefined) {
      await reaction.conclude(event, context, undefined);
      return 'settled';
    }
    const taken = await takeClaim();
    if ('againInMs' in taken) return taken;
    claim = taken;
    failures = Math.max(failures, taken.failures);
    // Asks again: another process may have finished between the first read and the claim.
    const stillAsked = await ask();
    if (stillAsked !== 'yes') return stillAsked;
    performed ??= { result: await perform(taken.takenAtMs) };
    await reaction.conclude(event, context, performed.result);
    return 'settled';
  }

  async function takeClaim(): Promise<Claim | ReturnType<typeof again>> {
    const isUnchanged = other !== null && clock.steadyMs() - other.sinceMs >= unchangedMs;
    const taken = await claims.take(event.id, isUnchanged ? (other?.version ?? null) : null);
    if (!('heldUntilMs' in taken)) return taken;
    if (taken.version !== other?.version) other = { version: taken.version, sinceMs: clock.steadyMs() };
    // `claimMs` bounds the wait when the holder's clock is ahead. Jitter spreads the processes that wait.
    const heldMs = Math.min(taken.heldUntilMs - clock.now().getTime(), claimMs) + random() * askAgainMs;
    // The holder settles most events within a second, long before its claim ends.
    const askMs = backoff(held, random, retry);
    held += 1;
    return again(Math.min(heldMs, askMs));
  }

  async function ask(): Promise<Turn | 'yes'> {
    const asked = await reaction.asks(event);
    if (typeof asked === 'object') {
      const waitMs = asked.notBefore.getTime() - clock.now().getTime();
      if (waitMs <= timerAfterMs) return again(waitMs);
      // No process would look for the timer of such a reaction.
      if (reaction.hasTimers !== true) return again(timerAfterMs);
      return setTimer(asked.notBefore);
    }
    switch (asked) {
      case 'yes':
        return 'yes';
      case 'no':
        return 'settled';
      case 'not-yet':
        return again(askAgainMs);
    }
  }

  async function setTimer(dueAt: Date): Promise<Turn> {
    await timers.set(event, dueAt);
    return 'settled';
  }

  /** Runs the effect. The end of its time, the deadline or the end of the process cuts it off. */
  async function perform(claimedAtMs: number): Promise<unknown> {
    const ofClaimMs = claimedAtMs + effectMs - clock.steadyMs();
    const leftMs = Math.min(ofClaimMs, deadlineMs - clock.now().getTime());
    if (leftMs <= 0) throw new Error('the claim or the deadline ended before the effect began');
    const controller = new AbortController();
    const finished = new AbortController();
    const cut = (): void => {
      controller.abort(new Error('the effect was cut off: its time was up, or the process ends'));
    };
    if (cutOff.aborted) cut();
    cutOff.addEventListener('abort', cut, { once: true });
    // An abort means that the effect ended in time.
    clock.sleep(leftMs, finished.signal).then(cut, () => undefined);
    try {
      // The turn does not wait for an effect that ignores its signal.
      return await Promise.race([
        rejectedBy(controller.signal),
        reaction.perform?.(event, controller.signal),
      ]);
    } finally {
      finished.abort();
      cutOff.removeEventListener('abort', cut);
    }
  }

  async function putOff(): Promise<Turn> {
    const waitMs = backoff(failures, random, retry);
    failures += 1;
    if (claim !== null) {
      // After the effect only this process can append the outcome, so it holds the claim for longer.
      const untilMs = clock.now().getTime() + waitMs + (performed === null ? 0 : claimMs);
      // If this fails too, the claim expires; this process may take it again before that.
      await claims.putOff(claim, untilMs).catch((error: unknown) => onRetry(toError(error), failures));
    }
    return again(waitMs);
  }

  /** Limits the wait to the deadline, which settles the event. */
  function again(ms: number): { readonly againInMs: number } {
    const leftMs = performed === null ? deadlineMs - clock.now().getTime() : Infinity;
    return { againInMs: Math.max(0, Math.min(ms, leftMs)) };
  }
}
