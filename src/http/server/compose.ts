import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../../kit/time/clock.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import type { AccessTokens } from '../../security/tokens/access-tokens.js';
import { ipBuckets, makeClientIp } from '../../security/rates/client-ip.js';
import { makeRateLimiter, type RateLimit } from '../../security/rates/rate-limit.js';
import { type KnownAgentSecrets, makeCheckAgentSecret, makeAuthenticator } from '../access/authenticate.js';
import { makeApp } from './app.js';
import type { AccessReader } from '../../../projections/projects/projects/reader.js';
import { makeCorsOfErrors } from '../replies/cors.js';
import { describeForLog } from '../replies/error-reply.js';
import { makeGate } from '../access/gate.js';
import { makeRunOnce, type KeyedDigest, type ReplySealer } from '../access/idempotency.js';
import { limitsFrom } from '../../security/rates/limits.js';
import { makeHttpMetrics, registerAdmissionMetrics, registerLimiterMetrics } from '../metrics.js';
import type { Readiness } from '../../observing/health.js';
import {
  makeRequestLimits,
  type RequestLimitsOptions,
  type StoresAvailability,
  makeWorkCharges,
} from '../access/limits.js';
import type { Route } from '../route.js';
import { makeAdmission, requestsAtOnce, requestsMaxDefault } from '../access/admission.js';
import { makeServiceRoutes, type ServiceRouteDeps } from '../routes/service.js';

export interface HttpDeps extends Omit<ServiceRouteDeps, 'jwks' | 'requestsAtOnce' | 'rates'> {
  readonly readiness: Readiness;
  readonly readers: { readonly access: AccessReader };
  readonly accessTokens: Pick<AccessTokens, 'verify' | 'jwks'>;
  readonly stateStore: StateStore;
  readonly digests: KeyedDigest & { ip(address: string): string };
  readonly replySealer: ReplySealer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** `TRUSTED_PROXIES` and `LIMITS_FILE`. */
  readonly trustedProxies: readonly string[];
  readonly limits: Readonly<Record<string, RateLimit>>;
  /** `MAX_REQUESTS`; 200 when left out. */
  readonly maxRequests?: number;
  /** The origins of pages that may read replies; any when left out or null. */
  readonly corsOrigins?: readonly string[] | null;
  readonly agentSecrets: KnownAgentSecrets;
  readonly routes: readonly Route[];
  readonly availability?: StoresAvailability;
  readonly writesWaitMs?: (() => number) | undefined;
  /** Those of src/http/access/README.md#limit-of-a-request when left out. */
  readonly requestMs?: Pick<RequestLimitsOptions, 'totalMs' | 'awayMs' | 'writeMs'>;
}

export type Http = ReturnType<typeof composeHttp>;

/** Builds the HTTP shell around the routes. It does not listen. */
export function composeHttp(deps: HttpDeps) {
  const { readiness, readers, accessTokens, clock, logger, digests } = deps;
  let closing = false;
  const clientIp = makeClientIp(deps.trustedProxies);
  const rates = limitsFrom(deps.limits);
  const limiter = makeRateLimiter({ clock, limits: rates });
  const requestsMax = deps.maxRequests ?? requestsMaxDefault;
  const metrics = makeHttpMetrics(deps.registry);
  registerLimiterMetrics(deps.registry, limiter);
  const admission = makeAdmission({ requestsMax });
  registerAdmissionMetrics(deps.registry, admission);
  const jwks: ServiceRouteDeps['jwks'] = () => accessTokens.jwks();
  const routes = [
    ...deps.routes,
    ...makeServiceRoutes({ ...deps, jwks, rates, requestsAtOnce: requestsAtOnce(requestsMax) }, deps.routes),
  ];
  const corsOrigins = deps.corsOrigins ?? null;
  const app = makeApp({
    routes,
    readiness,
    limiter,
    work: makeWorkCharges(limiter),
    admission,
    clock,
    requestLimits: makeRequestLimits({
      ...{ clock, availability: deps.availability, writesWaitMs: deps.writesWaitMs },
      ...deps.requestMs,
    }),
    newId: randomUUID,
    gate: makeGate({
      authenticator: makeAuthenticator({ accessTokens, access: readers.access, clock }),
      checkAgentSecret: makeCheckAgentSecret(deps.agentSecrets, metrics.secretRefused),
      limiter,
      clock,
    }),
    runOnce: makeRunOnce({
      store: deps.stateStore,
      digest: digests,
      sealer: deps.replySealer,
      clock,
      newId: randomUUID,
      onReplyLost: (error) => {
        logger.warn({ error: describeForLog(error) }, 'a reply could not be stored for its Idempotency-Key');
      },
    }),
    logger,
    metrics,
    clientIp,
    digestIp: (address) => digests.ip(address),
    publicUrl: deps.publicUrl,
    overHttps: deps.publicUrl.startsWith('https:'),
    corsOrigins,
    availability: deps.availability,
    closing: () => closing,
  });
  const handler = app.callback();
  return {
    /** Including the service's own. */
    routes,
    handler: (request: IncomingMessage, response: ServerResponse) => handler(request, response),
    metrics,
    // A trusted proxy holds the connections of many clients. Their requests count instead.
    /** The keys by which the connections of an address count. */
    clientsOf: (address: string | undefined) =>
      clientIp.isProxy(address)
        ? [{ key: clientIp(address, undefined), factor: Infinity }]
        : ipBuckets(clientIp(address, undefined)),
    /** See `HttpServerOptions`. */
    headersOfErrors: makeCorsOfErrors(corsOrigins),
    onClosing: () => {
      closing = true;
    },
  };
}
