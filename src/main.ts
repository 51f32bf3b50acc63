import type { Registry } from 'prom-client';
import { type Health, makeHealth } from './composition/health.js';
import { makeHttp } from './composition/http.js';
import { listening } from './composition/listening.js';
import { registerMetrics, registerPaymentMetrics } from './composition/metrics.js';
import { makeOperations } from './composition/operations.js';
import { bringUpReactions } from './composition/reactions.js';
import { sentenceOf } from './composition/sentence-of.js';
import { openServices, type Services } from './composition/services.js';
import type { Config } from './config.js';
import { startControlServer } from './control/control-server.js';
import { makeOperationRunner } from './control/operations.js';
import { controlSocketPath } from './control/protocol.js';
import { backoff } from './event-sourcing/clock.js';
import { StoreDamaged, StoreUnavailable } from './event-sourcing/errors.js';
import { type ProjectionRunner, startProjections } from './event-sourcing/projection-runner.js';
import type { ReactionRunner } from './event-sourcing/reaction-runner.js';
import { startMetricsServer } from './http/metrics-server.js';
import { startHttpServer } from './http/server.js';

/** No shutdown takes longer; whatever has been acknowledged is durable in any case. */
const shutdownMsMax = 25_000;

const endingSignals = ['SIGTERM', 'SIGINT'] as const;

/** Why the process ends, and with which exit code. */
interface Ending {
  readonly code: number;
  readonly reason: string;
}

/** Something that was started, and how it is ended. */
type Closer = () => Promise<unknown>;

/**
 * Serves until SIGTERM, SIGINT or a failure that cannot be served on; then ends what it started, last first.
 * @returns the exit code
 * @throws ConfigProblem, KeyProblem, StoreUnavailable, StoreDamaged: the start failed
 */
export async function serve(config: Config): Promise<number> {
  let end: (ending: Ending) => void = () => undefined;
  const ended = new Promise<Ending>((resolve) => {
    end = resolve;
  });
  const fail = (error: unknown): void => {
    end({ code: 1, reason: sentenceOf(error) });
  };
  const services = await openServices(config, { onFatal: fail });
  const { logger } = services.log;
  const closers: Closer[] = [services.close];
  try {
    const health = makeHealth({
      probes: probesOf(services),
      clock: services.clock,
      onChange: (reasons) => {
        if (reasons.length === 0) logger.info('ready');
        else logger.warn({ reasons }, 'not ready');
      },
    });
    await start({ config, services, health, closers, fail });
    handleSignals(services, end);
    const ending = await ended;
    logger[ending.code === 0 ? 'info' : 'fatal']({ reason: ending.reason }, 'ending');
    if (ending.code !== 0) process.stderr.write(`stowage: ${ending.reason}\n`);
    health.stopping();
    return ending.code;
  } finally {
    // Whatever hangs must not keep the process from ending.
    setTimeout(() => process.exit(1), shutdownMsMax).unref();
    for (const close of closers.reverse()) {
      await close().catch((error: unknown) => {
        // The rest is to be closed all the same.
        logger.error({ error: sentenceOf(error) }, 'something did not close');
      });
    }
  }
}

async function start(deps: {
  readonly config: Config;
  readonly services: Services;
  readonly health: Health;
  readonly closers: Closer[];
  readonly fail: (error: unknown) => void;
}): Promise<void> {
  const { config, services, health, closers, fail } = deps;
  const background = new AbortController();
  const tasks = [health.watch(background.signal), services.keyRings.watch(background.signal)];
  closers.push(async () => {
    background.abort();
    await Promise.all(tasks);
  });

  // 1. The views, in the background: a store that is away for now is waited for while the listener says "not ready".
  const running = bringUpProjections(services, background.signal, fail);
  let reactions: ReactionRunner | null = null;
  running
    .then((runner) => {
      if (runner === null || background.signal.aborted) return;
      health.projectionsStarted(runner);
      reactions = bringUpReactions(services, runner, fail);
    })
    .catch(fail);
  closers.push(async () => {
    background.abort();
    // A failure has ended the process already.
    const runner = await running.catch(() => null);
    await reactions?.stop();
    await runner?.stop();
  });

  // 2. Operators.
  const run = makeOperationRunner(makeOperations(services), (operation, error) => {
    services.log.logger.error({ operation, error: sentenceOf(error) }, 'an operation failed');
  });
  const control = await listening(
    startControlServer({ path: controlSocketPath(config.dataDirectory), run }),
    `the control socket in ${config.dataDirectory}`,
  );
  closers.push(() => control.close());

  // 3. Everybody else.
  const http = makeHttp(services, health);
  registerMetrics(http.registry, services.clock, {
    projections: health.statuses,
    reactions: () => reactions?.statuses() ?? [],
  });
  registerPaymentMetrics(http.registry, services.clock, services.readers);
  await listenForMetrics(config, http.registry, closers);
  const server = await listening(
    startHttpServer({ ...http, host: config.host, port: config.port }),
    `${config.host}:${config.port} (HOST, PORT)`,
  );
  closers.push(() => server.close());
  announce(config, server.port);
}

async function listenForMetrics(config: Config, registry: Registry, closers: Closer[]): Promise<void> {
  if (config.metricsPort === undefined) return;
  const metrics = await listening(
    startMetricsServer({ registry, host: config.host, port: config.metricsPort }),
    `${config.host}:${config.metricsPort} (HOST, METRICS_PORT)`,
  );
  closers.push(() => metrics.close());
}

/** Resolves with the running projections, or null when the process ended first. @throws StoreDamaged */
async function bringUpProjections(
  services: Services,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Promise<ProjectionRunner | null> {
  const { logger } = services.log;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await services.generations.start();
      return await startProjections(services, {
        onRetry: (collection, error) => {
          logger.warn({ collection, error: error.message }, 'a projection waits for its stores');
        },
        onStopped: (collection, error) => {
          const reason = sentenceOf(error);
          logger.error({ collection, error: reason }, 'a projection stopped');
          // An event that this version cannot read stops its view alone; a damaged or wrong store serves nobody.
          if (error instanceof StoreDamaged) fail(error);
          else warnOfStopped(collection, reason);
        },
        onRebuilt: (collection, differences) => {
          logger.info({ collection, ...differences }, 'readers were switched to a rebuilt view');
        },
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      logger.warn({ error: error.message, attempt }, 'waiting for the stores');
      // An aborted wait ends the loop.
      await services.clock
        .sleep(backoff(attempt, services.random, { first: 250, cap: 5_000 }), signal)
        .catch(() => undefined);
    }
  }
  return null;
}

function handleSignals(services: Services, end: (ending: Ending) => void): void {
  for (const signal of endingSignals) {
    process.once(signal, () => {
      end({ code: 0, reason: signal });
      // Whoever asks twice does not want to wait.
      for (const again of endingSignals) process.on(again, () => process.exit(130));
    });
  }
  process.on('SIGHUP', () => {
    services.keyRings.reload();
  });
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      services.log.logger.fatal({ event, error: sentenceOf(error) }, 'a defect');
      end({ code: 1, reason: `${event}; the log says more` });
    });
  }
}

function probesOf({ stores }: Services): Parameters<typeof makeHealth>[0]['probes'] {
  return [
    { name: 'event store', ping: () => stores.eventStore.head() },
    { name: 'read models', ping: () => stores.readModelStore.ping() },
    { name: 'state', ping: () => stores.stateStore.ping() },
  ];
}

/** For the person who started it, as below. */
function warnOfStopped(collection: string, reason: string): void {
  process.stderr.write(`stowage: not ready, for the view ${collection} has stopped: ${reason}\n`);
}

/** For the person who started it; the log is for machines. */
function announce(config: Config, port: number): void {
  const url = config.port === port ? config.publicUrl : `http://${config.host}:${port}`;
  process.stderr.write(
    `Stowage listens on ${url} (${url}/docs), process ${process.pid}\n` +
      `Try: curl ${url}/api/v1/auth/register -H 'content-type: application/json' ` +
      `-d '{"email":"ada@example.org","password":"Correct-Horse-9"}'\n`,
  );
}
