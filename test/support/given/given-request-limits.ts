import { makeRequestLimits, trackRequest } from '../../../src/http/access/limits.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { realClock } from '../fakes/clock.js';

/** Work on a request that never ends, under the limits of production. */
interface EndlessRequest {
  /** The sentence of the refusal, and its time after the start of the work. */
  readonly refusal: string;
  readonly tookMs: number;
  /** Whether the request may still append. */
  readonly isOver: boolean;
}

/** @param logAwayForMs for how long the log has not answered; null: it answers */
export async function refusalOfEndlessWork(logAwayForMs: number | null): Promise<EndlessRequest> {
  const answers = { awaySinceMs: () => null };
  const since = realClock.steadyMs() - (logAwayForMs ?? 0);
  const eventStore = { awaySinceMs: () => (logAwayForMs === null ? null : since) };
  const limits = makeRequestLimits({
    availability: { eventStore, readModels: answers, state: answers },
    clock: realClock,
  });
  const request = trackRequest();
  const began = performance.now();
  // The timer of the limits alone does not keep a process alive.
  const working = setInterval(() => undefined, 1_000);
  const refusal = await limits
    .run(request, ['eventStore'], () => new Promise(() => undefined))
    .then(
      () => 'none',
      (error: unknown) => (error instanceof StoreUnavailable ? error.message : String(error)),
    )
    .finally(() => clearInterval(working));
  return { refusal, tookMs: performance.now() - began, isOver: request.isOver() };
}
