import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { registerServiceMetrics } from '../../../src/composition/observing.js';
import { makeHttp } from '../../../src/composition/http.js';
import { bringUpMails, bringUpWebhooks } from '../../../src/composition/tasks/webhooks.js';
import { bringUpReactions } from '../../../src/composition/tasks/make-reactions.js';
import type { PaymentOptions } from '../../../src/composition/opening/open-payments.js';
import type { Stores } from '../../../src/composition/opening/open-stores.js';
import { openServices, type Services } from '../../../src/composition/services.js';
import { type Limits, readConfig } from '../../../src/config/config.js';
import type { Clock } from '../../../src/kit/time/clock.js';
import { isReached } from '../../../src/event-sourcing/feeding/projectors/projector.js';
import {
  type ProjectionRunner,
  startProjections,
} from '../../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { defaultLimits } from '../../../src/security/rates/limits.js';
import type { Route } from '../../../src/http/route.js';
import { startHttpServer, type ServerLimits } from '../../../src/http/server/server.js';
import type { OutgoingOptions } from '../../../src/outgoing/outgoing-http.js';
import type { Log } from '../../../src/log.js';
import type { MeasuredHashPool } from '../../../src/security/passwords/hash-pool.js';
import type { ScryptParameters } from '../../../src/security/passwords/scrypt.js';
import { patientLimits } from '../clients/http-app.js';
import { eventually } from '../eventually.js';
import { operatorContext } from '../given/given-stores.js';
import { givenDirectory } from './service-process.js';

/** The whole service in the test's process, with cheap password hashes and limits that no test reaches. */
export interface ServiceInProcess {
  readonly directory: string;
  readonly services: Services;
  readonly url: string;
  /** All routes that are served. */
  readonly routes: readonly Route[];
  readonly projections: ProjectionRunner;
  /** Waits until all views and reactions have passed the events that are in the log now. */
  readonly followed: () => Promise<void>;
  /** Returns the text that `/metrics` would serve on its listener. */
  readonly metrics: () => Promise<string>;
  /** Stops the service. Stores that the caller passed stay open. */
  close(): Promise<void>;
}

/** A busy machine may pause a process for more than the 3 s after which a service distrusts the registry. */
const registry = { staleAfterMs: 60_000 };

/** A busy machine may pause the writing thread for more than the limit of the service, which ends a write as unknown. */
const patientWriteMs = 600_000;

/** The cheapest parameters that scrypt allows. */
const cheapScrypt = { N: 2, r: 1, p: 1 } as const;

const unlimited = Object.fromEntries(
  Object.keys(defaultLimits).map((name) => [name, { limit: 1_000_000, seconds: 1 }]),
);

/**
 * Starts the service.
 * @param options.stores stores to share with other services in this process; default: those of `directory`
 */
export async function startInProcess(options: {
  readonly directory: string;
  readonly stores?: Stores;
  /** Default: a silent log. */
  readonly log?: Log;
  readonly onFatal?: (error: Error) => void;
  /** The limits to apply; default: none. */
  readonly limits?: Limits;
  readonly clock?: Clock;
  /** Default: cheap parameters. */
  readonly passwordScrypt?: ScryptParameters;
  /** Default: the machine's ways to look up names and to trust certificates. */
  readonly outgoing?: OutgoingOptions;
  /** Default: the public payment platforms. */
  readonly platforms?: NonNullable<PaymentOptions['platforms']>;
  /** Default: the pool that all services share. */
  readonly hashPool?: MeasuredHashPool;
  /** The limits of the listener; default: patient ones. */
  readonly serverLimits?: Partial<ServerLimits>;
  /** A test that counts what requests alone cost runs no reactions. */
  readonly withoutReactions?: boolean;
  /** Further variables of the configuration. */
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<ServiceInProcess> {
  const {
    directory,
    limits = {},
    environment = {},
    serverLimits = patientLimits,
    withoutReactions = false,
    ...serviceOptions
  } = options;
  const config = {
    ...readConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent', ...environment }),
    limits: { ...unlimited, ...limits },
  };
  const fail = (error: unknown): void => {
    options.onFatal?.(error instanceof Error ? error : new Error(String(error)));
  };
  const services = await openServices(config, {
    passwordScrypt: cheapScrypt,
    registry,
    writeLimitMs: patientWriteMs,
    ...serviceOptions,
  });
  await services.generations.start();
  const ignore = (): void => undefined;
  const projections = await startProjections(
    { ...services, lease: services.leases.feeder },
    {
      onRetry: ignore,
      onStopped: ignore,
      onRebuilt: ignore,
    },
  );
  const reactions = withoutReactions
    ? { stop: () => Promise.resolve(), statuses: () => [] }
    : bringUpReactions(services, projections, fail);
  const mails = withoutReactions ? { stop: () => Promise.resolve() } : bringUpMails(services);
  const webhooks = bringUpWebhooks(services);
  services.leases.feeder.start();
  const auditing = new AbortController();
  const audit = services.audit.log.run(auditing.signal);
  const stores = { ...services.stores, writesWaitMs: () => 0 };
  const http = makeHttp(
    { ...services, stores },
    { serving: () => true, ready: () => ({ ok: true, reasons: [] }) },
  );
  registerServiceMetrics(http.registry, services, { projections, reactions, webhooks });
  const server = await startHttpServer({ ...http, host: '127.0.0.1', port: 0, limits: serverLimits });
  return {
    ...{ directory, services },
    url: `http://127.0.0.1:${server.port}`,
    routes: http.routes,
    projections,
    followed: async () => {
      const head = await services.eventStore.head();
      await eventually('all views and reactions have passed the log', () => {
        const statuses = [...projections.statuses(), ...reactions.statuses()];
        // A process feeds nothing before it owns the lease.
        const isFeeding = statuses.length >= services.generations.projections.length;
        return isFeeding && statuses.every(({ position }) => isReached(position, head));
      });
    },
    metrics: () => http.registry.metrics(),
    close: async () => {
      await server.close();
      auditing.abort();
      await audit;
      await Promise.all([reactions.stop(), webhooks.stop(), mails.stop()]);
      await projections.stop();
      await services.close();
    },
  };
}

/** Returns the error with which a start fails, or null when it succeeds. */
export async function refusalOfStart(options: Parameters<typeof startInProcess>[0]): Promise<unknown> {
  try {
    await (await startInProcess(options)).close();
    return null;
  } catch (error) {
    return error;
  }
}

/** Starts the service for a test, whose end stops it. Default: on a new data directory. */
export async function givenInProcess(
  t: ExecutionContext,
  options: Partial<Parameters<typeof startInProcess>[0]> = {},
): Promise<ServiceInProcess> {
  const { directory = givenDirectory(t) } = options;
  const service = await startInProcess({ ...options, directory });
  t.teardown(() => service.close());
  return service;
}

/** Starts two services over the same stores, which share no queue and no cache. They end with the test. */
export async function givenTwoInProcess(
  t: ExecutionContext,
  options: Partial<Parameters<typeof startInProcess>[0]> = {},
): Promise<readonly [ServiceInProcess, ServiceInProcess]> {
  const one = await givenInProcess(t, options);
  const { directory, services } = one;
  return [one, await givenInProcess(t, { stores: services.stores, ...options, directory })];
}

/** Makes the log of a service, which keeps its lines. */
export function makeKeptLog(level = 'debug'): { readonly lines: readonly string[]; readonly log: Log } {
  const lines: string[] = [];
  const logger = pino({ level }, { write: (line) => lines.push(line) });
  return { lines, log: { logger, flush: () => Promise.resolve() } };
}

/** Grants `allow_s3` to a project as an operator does. */
export async function grantStorageIn({ services }: ServiceInProcess, projectId: string): Promise<void> {
  const grant = { projectId, entitlement: 'allow_s3', source: 'operator' } as const;
  await services.commands.grantEntitlement(grant, operatorContext());
}
