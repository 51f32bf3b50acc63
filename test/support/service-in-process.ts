import { makeHttp } from '../../src/composition/http.js';
import { bringUpReactions } from '../../src/composition/reactions.js';
import type { Stores } from '../../src/composition/open-stores.js';
import { openServices, type Services } from '../../src/composition/services.js';
import { type Limits, readConfig } from '../../src/config.js';
import type { Clock } from '../../src/event-sourcing/clock.js';
import { type ProjectionRunner, startProjections } from '../../src/event-sourcing/projection-runner.js';
import { defaultLimits } from '../../src/http/limits.js';
import type { Route } from '../../src/http/route.js';
import { startHttpServer } from '../../src/http/server.js';
import type { Log } from '../../src/log.js';
import type { HashPool } from '../../src/security/hash-pool.js';
import type { ScryptParameters } from '../../src/security/scrypt.js';
import { patientLimits } from './http-app.js';

/** The whole service within the test's process, with cheap password hashes and no limit that a test could reach. */
export interface ServiceInProcess {
  readonly services: Services;
  readonly url: string;
  /** All that is served. */
  readonly routes: readonly Route[];
  readonly projections: ProjectionRunner;
  /** What `/metrics` would tell of its listener. */
  readonly metrics: () => Promise<string>;
  /** Ends it; stores that were given stay open. */
  close(): Promise<void>;
}

/** A busy machine may give a process no time for longer than the 3 s after which a service trusts the registry no more. */
const registry = { staleAfterMs: 60_000 };

/** The cheapest that scrypt allows. */
const cheapScrypt = { N: 2, r: 1, p: 1 } as const;

const unlimited = Object.fromEntries(
  Object.keys(defaultLimits).map((name) => [name, { limit: 1_000_000, seconds: 1 }]),
);

/** @param options.stores shared with other services in this process; opened in `directory` when left out */
export async function startInProcess(options: {
  readonly directory: string;
  readonly stores?: Stores;
  /** Silent when left out. */
  readonly log?: Log;
  readonly onFatal?: (error: Error) => void;
  /** Those that are to hold; there are none otherwise. */
  readonly limits?: Limits;
  readonly clock?: Clock;
  /** Cheap when left out. */
  readonly passwordScrypt?: ScryptParameters;
  /** That of every service when left out. */
  readonly hashPool?: HashPool;
  /** Further variables of the configuration. */
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<ServiceInProcess> {
  const { directory, limits = {}, environment = {}, ...serviceOptions } = options;
  const config = {
    ...readConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent', ...environment }),
    limits: { ...unlimited, ...limits },
  };
  const services = await openServices(config, {
    passwordScrypt: cheapScrypt,
    registry,
    ...serviceOptions,
  });
  await services.generations.start();
  const ignore = (): void => undefined;
  const projections = await startProjections(services, {
    onRetry: ignore,
    onStopped: ignore,
    onRebuilt: ignore,
  });
  const reactions = bringUpReactions(services, projections, (error) => {
    options.onFatal?.(error instanceof Error ? error : new Error(String(error)));
  });
  const http = makeHttp(services, { serving: () => true, ready: () => ({ ok: true, reasons: [] }) });
  const server = await startHttpServer({ ...http, host: '127.0.0.1', port: 0, limits: patientLimits });
  return {
    services,
    url: `http://127.0.0.1:${server.port}`,
    routes: http.routes,
    projections,
    metrics: () => http.registry.metrics(),
    close: async () => {
      await server.close();
      await reactions.stop();
      await projections.stop();
      await services.close();
    },
  };
}
