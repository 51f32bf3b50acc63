import type { Clock } from '../../kit/time/clock.js';
import type { Allowance } from '../../security/rates/rate-limit.js';
import type { Gate } from '../access/gate.js';
import type { RunOnce } from '../access/idempotency.js';
import type { Limiter, WorkCharges, TrackedRequest } from '../access/limits.js';
import type { Readiness } from '../../observing/health.js';
import type { Admission } from '../access/admission.js';

/** `ctx.state`. */
export interface HttpState {
  requestId: string;
  /** The id of the trace: src/http/README.md#traces. */
  traceId: string;
  /** The client's address. Logs and events contain only its keyed digest. */
  client: string;
  /** The route's pattern, never the URL; null before a route is found. */
  route: string | null;
  actor: string | null;
  /** The `code` of error bodies for a caller's protocol with special codes; null for the service's codes. */
  errorCode: string | null;
  tracked: TrackedRequest;
  /** What the limit that is nearest to a refusal still allows; null where no limit counts the request. */
  allowance: Allowance | null;
}

export interface Shell {
  readonly readiness: Readiness;
  readonly gate: Gate;
  readonly limiter: Limiter;
  readonly work: WorkCharges;
  readonly admission: Admission;
  readonly runOnce: RunOnce;
  readonly clock: Clock;
  readonly newId: () => string;
}
