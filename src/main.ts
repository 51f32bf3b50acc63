import { setFlagsFromString } from 'node:v8';
import { Registry } from 'prom-client';
import { type Health, makeHealth } from './observing/health.js';
import { makeStoreWatch, type StoreLink, type StoreWatch } from './observing/stores/store-watch.js';
import { makeHttp } from './composition/http.js';
import { missingCopies, runAudit } from './composition/tasks/audit.js';
import { type Print, listening, openTerminal, requireSoleOwner, sentenceOf } from './composition/starting.js';
import { listenForMetrics, registerServiceMetrics, type RunningTasks } from './composition/observing.js';
import { makeOperators } from './composition/operators.js';
import { bringUpProjections } from './composition/tasks/projections.js';
import { bringUpMails, bringUpWebhooks } from './composition/tasks/webhooks.js';
import { bringUpReactions } from './composition/tasks/make-reactions.js';
import { runDailyTasks } from './composition/tasks/daily-tasks.js';
import { startSharedTasks } from './composition/tasks/shared-tasks.js';
import { openServices, type Services } from './composition/services.js';
import {
  type StoreLinks,
  distinctLinks,
  makeReportStore,
  makeStoreLinks,
} from './composition/opening/store-reports.js';
import { makeServiceStatus } from './composition/status.js';
import { systemClock, systemRandom } from './composition/system.js';
import type { Config } from './config/config.js';
import { controlSocketPath, listenForOperators } from './operating/socket/listen.js';
import type { Task } from './event-sourcing/feeding/consumers/tasks.js';
import { pingReadModels } from './event-sourcing/ports/records.js';
import { startHttpServer } from './http/server/server.js';
import { type Log, makeLog } from './log.js';

/** The longest shutdown, after `DRAIN_SECONDS`. Acknowledged data is durable even if the process is killed. */
const shutdownMsMax = 25_000;

/** A start that takes longer says at the terminal why it does not listen yet. */
const patienceMs = 5_000;

const endingSignals = ['SIGTERM', 'SIGINT'] as const;

/** The reason for the end of the process, and its exit code. */
interface Ending {
  readonly code: number;
  readonly reason: string;
}

/**
 * Serves until SIGTERM, SIGINT or a fatal failure, then closes its components in reverse order. Returns the exit code.
 * @throws ConfigProblem, KeyProblem, StoreUnavailable, StoreDamaged when the start fails
 */
export async function serve(config: Config): Promise<number> {
  const running = new AbortController();
  const draining = new AbortController();
  let end: (ending: Ending) => void = () => undefined;
  const ended = new Promise<Ending>((resolve) => {
    end = (ending) => {
      resolve(ending);
      // A process that has failed serves no longer, also not while it drains.
      if (ending.code !== 0) draining.abort();
    };
  });
  const fail = (error: unknown): void => end({ code: 1, reason: sentenceOf(error) });
  const log = makeLog(config.logLevel, 'stdout', { forEyes: config.development && process.stdout.isTTY });
  const { logger } = log;
  const tell = openTerminal();
  const links = makeStoreLinks(config, systemClock);
  const stores = makeStoreWatch({
    links: distinctLinks(links),
    clock: systemClock,
    random: systemRandom,
    onReport: makeReportStore({ logger, tell }),
  });
  const health = makeHealth({
    stores,
    log: links.eventStore.name,
    logReads: links.eventStore.reads,
    clock: systemClock,
    onChange: (reasons) => {
      if (reasons.length === 0) logger.info('ready');
      else logger.warn({ reasons }, 'not ready');
    },
  });
  const watching = [stores.run(running.signal), health.watch(running.signal)];
  const closers: (() => Promise<unknown>)[] = [() => log.flush()];
  const reload = handleSignals(log, end);
  const progress = { listens: false };
  const starting = start({
    ...{ config, log, tell, links, stores, health, closers, fail, signal: running.signal },
    onOpened: reload,
  }).then(() => {
    progress.listens = true;
    // V8 lets a heap of 60 MB grow up to four times before it collects, which takes memory and saves a running service no CPU that can
    // be measured. A start is a tenth faster without it, and Node takes compiled code from the cache only under the same flags.
    setFlagsFromString('--heap-growing-percent=50');
  });
  try {
    const ending = await Promise.race([ended, starting.then(() => ended)]);
    logger[ending.code === 0 ? 'info' : 'fatal']({ reason: ending.reason }, 'ending');
    if (ending.code !== 0) tell(`stowage: ${ending.reason}`);
    health.stopping();
    // Serves on until balancers have seen that the process is not ready and send their requests elsewhere.
    if (progress.listens)
      // An aborted sleep ends the wait.
      await systemClock.sleep(config.drainSeconds * 1_000, draining.signal).catch(() => undefined);
    return ending.code;
  } finally {
    // A component that hangs must not keep the process alive.
    setTimeout(() => process.exit(1), shutdownMsMax).unref();
    running.abort();
    // A start that goes on would open components after the last one was closed. The abort ends its waits.
    await starting.catch(() => undefined);
    await Promise.all(watching);
    for (const close of closers.reverse()) {
      await close().catch((error: unknown) => {
        // The other components must still be closed.
        logger.error({ error: sentenceOf(error) }, 'a component did not close');
      });
    }
  }
}

/** Opens the components in the order in which they depend on one another. The last one listens for requests. */
async function start(deps: {
  readonly config: Config;
  readonly log: Log;
  readonly tell: Print;
  readonly links: StoreLinks;
  readonly stores: StoreWatch;
  readonly health: Health;
  /** Each closes a component that was started. */
  readonly closers: (() => Promise<unknown>)[];
  readonly fail: (error: unknown) => void;
  /** Aborts when the process ends. */
  readonly signal: AbortSignal;
  readonly onOpened: (services: Services) => void;
}): Promise<void> {
  const { config, log, tell, links, health, closers, fail, signal } = deps;

  // 1. The metrics, which show from the first moment that the process lives.
  const registry = new Registry();
  const status = makeServiceStatus(deps);
  const metrics = await listenForMetrics(config, registry, status.report);
  closers.push(async () => metrics?.close());

  // 2. The stores. A server that is away delays the start, and ends none.
  const onWarning = (sentence: string): void => tell(`stowage: ${sentence}`);
  const warn = (variable: string, sentence: string): void => {
    log.logger.warn({ variable }, sentence);
    onWarning(sentence);
  };
  // Compose and Kubernetes mount secrets so by default, so this is no error.
  for (const variable of config.exposedSecretFiles) {
    warn(
      variable,
      `every user of the machine may read the file that ${variable} names; take the permission from others (chmod o-r)`,
    );
  }
  for (const { variable, meant } of config.misspelt)
    warn(variable, `the service does not know the variable ${variable}; ${meant} may be meant`);
  await requireSoleOwner(config);
  const services = await openServices(config, { log, links, onFatal: fail, onWarning, waiting: signal });
  closers.push(services.close);
  signal.throwIfAborted();
  deps.onOpened(services);
  status.opened(services);
  const { eventStore, readModelStore, stateStore } = services.stores;
  deps.stores.opened(
    new Map<StoreLink, () => Promise<unknown>>([
      [links.eventStore, () => eventStore.head()],
      [links.readModels, () => pingReadModels(readModelStore)],
      [links.state, () => stateStore.ping()],
    ]),
  );
  const keys = Promise.all([services.keyRings.watch(signal), services.agentSecrets.watch(signal)]);
  closers.push(() => keys);

  // 3. The views, and the reactions after them.
  const running: RunningTasks = { projections: null, reactions: null, webhooks: null };
  const started = bringUpProjections(services, { signal, fail, tell });
  let tasks: readonly Task[] = [];
  let mails: ReturnType<typeof bringUpMails> | null = null;
  started
    .then((runner) => {
      if (runner === null || signal.aborted) return;
      running.projections = runner;
      health.projectionsStarted(runner);
      running.reactions = bringUpReactions(services, runner, fail);
      mails = bringUpMails(services);
      running.webhooks = bringUpWebhooks(services);
      services.leases.feeder.start();
      tasks = startSharedTasks(services);
    })
    .catch(fail);
  closers.push(async () => {
    // A failure has already ended the process.
    const runner = await started.catch(() => null);
    // First of all: the other processes take over while this one drains.
    await services.leases.stop();
    for (const task of tasks) task.end();
    await Promise.all([
      ...tasks.map(({ done }) => done),
      running.reactions?.stop(),
      running.webhooks?.stop(),
      mails?.stop(),
    ]);
    await runner?.stop();
  });

  // The threads that bring the views up to date write into the file of the tiles too. A failure has ended the process.
  const audit = started.then(
    () => runAudit(services.audit, services, signal),
    () => undefined,
  );
  closers.push(() => audit);

  // 4. The control socket for operators, who may need it when a view does not catch up.
  const operators = makeOperators(services, { status: status.report });
  const control = await listening(
    listenForOperators(controlSocketPath(config.dataDirectory), operators),
    `the control socket in ${config.dataDirectory}`,
  );
  closers.push(() => control.close());

  // 5. The requests, once the views can answer them: a balancer takes a port that listens for a service that serves.
  const http = makeHttp(services, health, registry);
  registerServiceMetrics(registry, services, running);
  const late = setTimeout(() => {
    tell(
      'stowage: starting: the views have not caught up with the log yet; the service listens when they have',
    );
  }, patienceMs);
  await health.settled(signal).finally(() => clearTimeout(late));
  const server = await listening(
    startHttpServer({
      ...http,
      host: config.host,
      port: config.port,
      limits: { connectionsPerClientMax: config.maxConnectionsPerClient },
    }),
    `${config.host}:${config.port} (HOST, PORT)`,
  );
  closers.push(() => server.close());
  const dailyTasks = runDailyTasks(services, signal);
  closers.push(() => dailyTasks);
  announce(config, server.port, tell);
  announceMissing(config, log, tell);
}

/** Returns the function that makes SIGHUP read the keys and the agent secrets again, for the services that hold them. */
function handleSignals(log: Log, end: (ending: Ending) => void): (services: Services) => void {
  for (const signal of endingSignals) {
    process.once(signal, () => {
      end({ code: 0, reason: signal });
      // A person who sends a second signal does not want to wait.
      for (const again of endingSignals) process.on(again, () => process.exit(130));
    });
  }
  let reload = (): void => undefined;
  process.on('SIGHUP', () => reload());
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.logger.fatal({ event, error: sentenceOf(error) }, 'a defect');
      end({ code: 1, reason: `${event}; the log says more` });
      // The defect of a start arrives here when `serve` has ended, and this listener keeps Node from setting the code.
      process.exitCode = 1;
    });
  }
  return (services) => {
    reload = () => {
      services.keyRings.reload();
      services.agentSecrets.reload();
    };
  };
}

/** Says what the audit log lacks. Who can write the stores can also remove what the service keeps beside them. */
function announceMissing(config: Config, { logger }: Log, tell: Print): void {
  const missing = missingCopies(config);
  if (missing === null) return;
  if (config.production) logger.warn({ problem: missing }, 'the audit log has no copy outside the service');
  tell(`stowage: ${missing}`);
}

function announce(config: Config, port: number, tell: Print): void {
  const bound = config.port === port ? config.publicUrl : `http://${config.host}:${port}`;
  // HOST of the image means every address of the machine, and a browser opens none by that name.
  const url = bound.replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=:)/, 'http://127.0.0.1');
  tell(
    `Stowage listens on ${url} (${url}/docs), process ${process.pid}\n` +
      `Try: curl ${url}/api/v1/auth/register -H 'content-type: application/json' ` +
      `-d '{"email":"ada@example.org","password":"Correct-Horse-9"}'`,
  );
  if (config.mailsToLog) {
    tell('stowage: SMTP_URL=log: writes mails with their codes to this log and sends none');
  }
}
