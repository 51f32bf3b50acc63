import type { Quarantine } from '../feeding/quarantine.js';
import type { Clock } from '../../kit/time/clock.js';
import type { DomainEvent } from '../ports/domain-event.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { ReactionEvent } from './reaction.js';
import type { Served } from './reaction-turn.js';
import { type ReactionTimer, type ReactionTimers, timerAfterMs } from './reaction-timers.js';

/** Timers that one look begins to serve, at most. */
const listedMax = 200;
/** A look begins none beyond these. Those that fail stay the first in the store, and hold up no later ones up to here. */
export const timersServedMax = 1_000;
/** The pause before the next look while due timers are served, and while none could begin. */
const pauseMs = { served: 250, full: 1_000 };
/** The wait after a failed look, which ends when the store answers again. */
const retryMs = 10_000;

/** Serves the events whose timers are due, until the signal aborts. */
export async function serveTimers(deps: {
  readonly timers: ReactionTimers;
  readonly clock: Clock;
  readonly sleepUntilRetry: Clock['sleep'];
  readonly signal: AbortSignal;
  readonly quarantine: Pick<Quarantine, 'attempt'>;
  readonly serve: (event: ReactionEvent<DomainEvent>) => Promise<Served>;
  /** Receives the work on each timer. The process waits for it when it ends. */
  readonly start: (work: Promise<void>) => void;
  readonly onRetry: (error: Error, failures: number) => void;
}): Promise<void> {
  const { timers, quarantine, clock, sleepUntilRetry, signal, start, onRetry } = deps;
  /** The keys of the timers that are being served. */
  const serving = new Set<string>();
  while (!signal.aborted) {
    const waitMs = await look().catch(retryLater);
    // An abort ends the loop.
    await sleepUntilRetry(waitMs, signal).catch(() => undefined);
  }

  /** Returns the wait until the next look, in ms. */
  async function look(): Promise<number> {
    const listed = Math.min(listedMax + serving.size, timersServedMax);
    const first = await timers.first(listed);
    const now = clock.now();
    const due = first.filter(({ key, dueAt }) => dueAt <= now && !serving.has(key));
    for (const timer of due) {
      serving.add(timer.key);
      start(serveOne(timer).finally(() => serving.delete(timer.key)));
    }
    const next = first.find(({ dueAt }) => dueAt > now);
    if (next !== undefined) return Math.min(timerAfterMs, next.dueAt.getTime() - now.getTime());
    if (first.length < listed) return timerAfterMs;
    return due.length === 0 ? pauseMs.full : pauseMs.served;
  }

  async function serveOne(timer: ReactionTimer): Promise<void> {
    try {
      const event = await quarantine.attempt(timer.eventId, () => timers.eventOf(timer), timer.event);
      if (event !== null && (await deps.serve(event)) === 'ended') return;
      // The clock may have been set back. The event then has this timer again.
      if (clock.now() >= timer.dueAt) await timers.remove(timer);
    } catch (error) {
      // A later look finds the timer again.
      retryLater(error);
    }
  }

  function retryLater(error: unknown): number {
    if (!(error instanceof StoreUnavailable)) throw error;
    onRetry(error, 0);
    return retryMs;
  }
}
