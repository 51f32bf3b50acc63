import type { Clock } from '../event-sourcing/clock.js';
import type { Gate } from './gate.js';
import type { RunOnce } from './idempotency.js';
import type { Limiter } from './limits.js';
import type { Readiness } from './readiness.js';

/** What the middleware knows of a request (`ctx.state`). */
export interface HttpState {
  requestId: string;
  /** The client's address; in logs and events only as a keyed digest. */
  client: string;
  /** The route's pattern, never the URL; null while no route was found. */
  route: string | null;
  actor: string | null;
  /** The `code` of error bodies where the caller's protocol wants its own; null: ours. */
  errorCode: string | null;
}

/** What serving any route needs. */
export interface Shell {
  readonly readiness: Readiness;
  readonly gate: Gate;
  readonly limiter: Limiter;
  readonly runOnce: RunOnce;
  readonly clock: Clock;
  readonly newId: () => string;
}
