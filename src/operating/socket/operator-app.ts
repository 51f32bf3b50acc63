import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { CommandRejected, StoreDamaged } from '../../event-sourcing/ports/errors.js';
import type { OperatorCaller } from '../../http/access/access.js';
import { makeAdmission, requestsMaxDefault } from '../../http/access/admission.js';
import type { Gate } from '../../http/access/gate.js';
import type { RunOnce } from '../../http/access/idempotency.js';
import { makeWorkCharges } from '../../http/access/limits.js';
import { makeHttpMetrics } from '../../http/metrics.js';
import { type ErrorCode, HttpError, errorStatus } from '../../http/replies/error-codes.js';
import { toHttpError } from '../../http/replies/error-reply.js';
import type { Route } from '../../http/route.js';
import { makeApp } from '../../http/server/app.js';
import type { Clock } from '../../kit/time/clock.js';
import { makeClientIp } from '../../security/rates/client-ip.js';
import { limitsFrom } from '../../security/rates/limits.js';
import { makeRateLimiter } from '../../security/rates/rate-limit.js';

const operator: OperatorCaller = { kind: 'operator', actor: 'operator' };

/**
 * Grants every request the actor `operator`. Neither headers nor addresses count. Only the handler below has this gate,
 * and only a socket that this user alone may open is given the handler.
 */
const operatorGate: Gate = (policy, _request, readPath) => {
  if (policy.kind !== 'operator') throw new HttpError('not_found', 'there is nothing at this path');
  return { grant: { caller: operator } as never, params: readPath() };
};

/**
 * Makes the handler of the routes of operators (src/operating/README.md#operations). It checks bodies as for every route, and answers
 * while the service is not ready. Requests have no limits of rate and time, which the operations have themselves.
 */
export function makeOperatorHandler(deps: {
  readonly routes: readonly Route[];
  readonly runOnce: RunOnce;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly publicUrl: string;
}): RequestListener {
  const limiter = makeRateLimiter({ clock: deps.clock, limits: limitsFrom({}) });
  const app = makeApp({
    ...deps,
    routes: deps.routes.map(withOwnCodes),
    gate: operatorGate,
    limiter,
    work: makeWorkCharges(limiter),
    admission: makeAdmission({ requestsMax: requestsMaxDefault }),
    readiness: { ready: () => ({ ok: true, reasons: [] }), serving: () => true },
    requestLimits: { run: (_request, _stores, work) => work() },
    newId: randomUUID,
    // The service's own metrics count what clients ask for.
    metrics: makeHttpMetrics(new Registry()),
    clientIp: makeClientIp([]),
    digestIp: () => 'operator',
    closing: () => false,
  });
  const handle = app.callback();
  return (request, response) => void handle(request, response);
}

/** Lets errors carry the codes of rejections, which scripts of operators compare. */
function withOwnCodes(route: Route): Route {
  return {
    ...route,
    serve: (shell) => {
      const serve = route.serve(shell);
      return async (ctx) => {
        try {
          await serve(ctx);
        } catch (error) {
          if (error instanceof CommandRejected) ctx.state.errorCode = String(error.code);
          if (error instanceof StoreDamaged) ctx.state.errorCode = 'store_damaged';
          throw explained(error);
        }
      };
    },
  };
}

/** Operators read what is damaged, and rejections that no client can meet. */
function explained(error: unknown): unknown {
  if (error instanceof StoreDamaged) return new HttpError('internal_error', error.message);
  if (!(error instanceof CommandRejected)) return error;
  const { code, message } = error as CommandRejected;
  if (Object.hasOwn(errorStatus, code))
    return toHttpError(error) ?? new HttpError(code as ErrorCode, message);
  const known = toHttpError(error);
  // Over TCP a rejection about an account is one about the caller's.
  return known === null || known.status === 401 ? new HttpError('conflict', message) : known;
}
