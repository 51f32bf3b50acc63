import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../event-sourcing/clock.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import type { AccessTokens } from '../security/access-tokens.js';
import { makeClientIp } from '../security/client-ip.js';
import { makeRateLimiter } from '../security/rate-limit.js';
import type { RateLimit } from '../security/rate-limit.js';
import { makeCheckAgentSecret } from './agent-secret.js';
import { makeApp } from './app.js';
import { makeAuthenticator } from './authenticate.js';
import type { AccessReaders } from './authenticate.js';
import { describeForLog } from './error-reply.js';
import { makeGate } from './gate.js';
import type { ProjectDirectory } from './gate.js';
import { makeRunOnce } from './idempotency.js';
import type { KeyedDigest, ReplySealer } from './idempotency.js';
import { limitsFrom } from './limits.js';
import { makeHttpMetrics } from './metrics.js';
import type { HttpMetrics } from './metrics.js';
import type { Readiness } from './readiness.js';
import type { Route } from './route.js';
import { makeServiceRoutes } from './routes/service.js';
import type { ServiceRouteDeps } from './routes/service.js';

export interface HttpDeps extends Omit<ServiceRouteDeps, 'jwks'> {
  readonly readiness: Readiness;
  readonly readers: AccessReaders & { readonly projects: ProjectDirectory };
  readonly accessTokens: Pick<AccessTokens, 'verify' | 'jwks'>;
  readonly stateStore: StateStore;
  readonly digests: KeyedDigest & { ip(address: string): string };
  readonly replySealer: ReplySealer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** `TRUSTED_PROXIES`, `LIMITS_FILE` and the agent secrets, current one first. */
  readonly trustedProxies: readonly string[];
  readonly limits: Readonly<Record<string, RateLimit>>;
  readonly agentSecrets: readonly (string | undefined)[];
  /** The routes of all areas; those of the service itself are added. */
  readonly routes: readonly Route[];
}

/** What `startHttpServer` serves. */
export interface Http {
  /** All that is served, the service's own routes included. */
  readonly routes: readonly Route[];
  readonly handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly metrics: HttpMetrics;
  readonly onClosing: () => void;
}

/** Puts the HTTP shell together around the routes, without listening. */
export function makeHttp(deps: HttpDeps): Http {
  const { readiness, readers, accessTokens, clock, logger, digests } = deps;
  let closing = false;
  const limiter = makeRateLimiter({ clock, limits: limitsFrom(deps.limits) });
  const metrics = makeHttpMetrics(deps.registry);
  const jwks: ServiceRouteDeps['jwks'] = () => accessTokens.jwks();
  const routes = [...deps.routes, ...makeServiceRoutes({ ...deps, jwks }, deps.routes)];
  const app = makeApp({
    routes,
    readiness,
    limiter,
    clock,
    newId: randomUUID,
    gate: makeGate({
      authenticator: makeAuthenticator({ accessTokens, readers, clock }),
      projects: readers.projects,
      checkAgentSecret: makeCheckAgentSecret(deps.agentSecrets),
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
        logger.warn({ error: describeForLog(error) }, 'a reply could not be kept for its Idempotency-Key');
      },
    }),
    logger,
    metrics,
    clientIp: makeClientIp(deps.trustedProxies),
    digestIp: (address) => digests.ip(address),
    closing: () => closing,
  });
  const handler = app.callback();
  return {
    routes,
    handler: (request, response) => handler(request, response),
    metrics,
    onClosing: () => {
      closing = true;
    },
  };
}
