import { backoff, type Clock, type Random } from './clock.js';
import type { DomainEvent } from './domain-event.js';
import { StoreDamaged, UndecodableEvent } from './errors.js';
import { type AnyReaction, contextFor, type ReactionEvent } from './reaction.js';
import { type Claim, claimMs, type Claims } from './reaction-claims.js';

/** How a turn of an event ended: nothing is asked any more, or there is a time to look again. */
export type Turn = 'settled' | { readonly againInMs: number };

/** An effect is cut off so long after its claim was asked for; what is left of the claim is for its outcome. */
const effectMs = 45_000;
const lookAgainMs = 1_000;
const lookAgainLaterMs = 60_000;
const retry = { first: 1_000, cap: 60_000 };

export interface TurnDeps {
  readonly reaction: AnyReaction;
  readonly claims: Claims;
  readonly clock: Clock;
  readonly random: Random;
  /** Cuts off what runs, when the process ends. */
  readonly cutOff: AbortSignal;
  /** Told of every failure before it is tried again. */
  readonly onRetry: (error: Error, failures: number) => void;
}

/**
 * Makes what serves one event, turn by turn, until it is settled.
 * @returns a turn. It throws only what no repetition cures: UndecodableEvent, StoreDamaged
 */
export function makeTurns(deps: TurnDeps, event: ReactionEvent<DomainEvent>): () => Promise<Turn> {
  const { reaction, claims, clock, random, cutOff, onRetry } = deps;
  const deadlineMs = reaction.deadline?.(event)?.getTime() ?? Infinity;
  const context = contextFor(reaction, event);
  let failures = 0;
  /** What the effect returned, while its outcome is not yet appended: then only that is tried again. */
  let performed: { readonly result: unknown } | null = null;
  let claim: Claim | null = null;

  return async () => {
    claim = null;
    try {
      return await turn();
    } catch (error) {
      if (error instanceof UndecodableEvent || error instanceof StoreDamaged) throw error;
      onRetry(toError(error), failures);
      return await putOff();
    }
  };

  async function turn(): Promise<Turn> {
    if (performed === null && clock.now().getTime() >= deadlineMs) return 'settled';
    // Asked before the claim too: after a lost checkpoint most events are done with, and reading is cheaper than claiming.
    const asked = await look();
    if (asked !== 'yes') return asked;
    if (reaction.perform === undefined) {
      await reaction.conclude(event, context, undefined);
      return 'settled';
    }
    const taken = await claims.take(event.id);
    if ('heldUntilMs' in taken) {
      // However far ahead the holder's clock is; with jitter, so that not all who wait look at once.
      const heldMs = Math.min(taken.heldUntilMs - clock.now().getTime(), claimMs);
      return again(heldMs + random() * lookAgainMs);
    }
    claim = taken;
    failures = Math.max(failures, taken.failures);
    // Asked again: between the first look and the claim another process may have finished.
    const stillAsked = await look();
    if (stillAsked !== 'yes') return stillAsked;
    performed ??= { result: await perform(taken.takenAtMs) };
    await reaction.conclude(event, context, performed.result);
    return 'settled';
  }

  async function look(): Promise<Turn | 'yes'> {
    const asked = await reaction.asks(event);
    // Looked at each minute all the same: clocks are put right.
    if (typeof asked === 'object') {
      return again(Math.min(asked.notBefore.getTime() - clock.now().getTime(), lookAgainLaterMs));
    }
    switch (asked) {
      case 'yes':
        return 'yes';
      case 'no':
        return 'settled';
      case 'not-yet':
        return again(lookAgainMs);
    }
  }

  /** Runs the effect until the claim or the deadline cuts it off, or the process ends. */
  async function perform(claimedAtMs: number): Promise<unknown> {
    const leftMs = Math.min(claimedAtMs + effectMs, deadlineMs) - clock.now().getTime();
    if (leftMs <= 0) throw new Error('the claim or the deadline ended before the effect began');
    const controller = new AbortController();
    const finished = new AbortController();
    const cut = (): void => {
      controller.abort(new Error('the effect was cut off: its time was up, or the process ends'));
    };
    if (cutOff.aborted) cut();
    cutOff.addEventListener('abort', cut, { once: true });
    // An aborted wait is how an effect ends in time.
    clock.sleep(leftMs, finished.signal).then(cut, () => undefined);
    try {
      // An effect that does not heed its signal is left to itself.
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
      // Others keep away from an effect whose outcome only this process can append.
      const untilMs = clock.now().getTime() + waitMs + (performed === null ? 0 : claimMs);
      // Where this fails too the claim ends by itself, and until then we may take it again.
      await claims.putOff(claim, untilMs).catch((error: unknown) => {
        onRetry(toError(error), failures);
      });
    }
    return again(waitMs);
  }

  /** No later than the deadline, so that what it ends is not waited for. */
  function again(ms: number): Turn {
    const leftMs = performed === null ? deadlineMs - clock.now().getTime() : Infinity;
    return { againInMs: Math.max(0, Math.min(ms, leftMs)) };
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void => {
      reject(toError(signal.reason));
    };
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
