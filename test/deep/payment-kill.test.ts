import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Random } from '../../src/event-sourcing/ports/clock.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { makeServiceClient } from '../support/clients/service-client.js';
import { inspectDisk } from '../support/servers/service-disk.js';
import {
  freePort,
  makeDataDirectory,
  type ServiceProcess,
  spawnService,
  startService,
  type StartOptions,
} from '../support/servers/service-process.js';
import { type Delivery, makeDelivery } from './payment-delivery.js';
import { findCallbackProblems, findRepetitions, placesOfGrant, replayGrants } from './payment-log.js';
import {
  type Bought,
  findGrantProblems,
  findOrderProblems,
  placeOrders,
  signInAgain,
} from './payment-orders.js';
import { makePlatforms, type Platform, type PlatformMessage } from './payment-senders.js';

/*
 * Sends callbacks of all six platforms, duplicated and reordered, to the real service, which is killed repeatedly.
 * DEEP_SEED repeats the draws of a run, not its timing. DEEP_BUDGET multiplies its length.
 */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);
/** The limit of one data directory. A longer run uses more directories. */
const deliveriesMax = 10_000;
const killsMax = 24;
const lastAtOnce = 10;
const directories = Math.ceil(budget);
const share = Math.min(1, budget);

const unlimited = { limit: 1_000_000, seconds: 1 };

test('Each effect of duplicated and reordered callbacks happens once under kill -9, and no acknowledged callback is lost', async (t) => {
  t.timeout(directories * 30 * 60_000);
  t.log(`DEEP_SEED=${seed}`);
  for (let index = 0; index < directories; index += 1) await campaign(t, seed + index);
});

async function campaign(t: ExecutionContext, campaignSeed: number): Promise<void> {
  const random = makeSeededRandom(campaignSeed);
  const deliveries = Math.ceil(deliveriesMax * share);
  const kills = Math.ceil(killsMax * share);
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const platforms = makePlatforms();
  const keyDirectories: Record<string, string> = {};
  for (const [variable, { file, pem }] of Object.entries(platforms.keyFiles)) {
    const path = join(directory.path, variable.toLowerCase());
    await mkdir(path);
    await writeFile(join(path, file), pem);
    keyDirectories[variable] = path;
  }
  const limitsFile = join(directory.path, 'limits.json');
  await writeFile(limitsFile, JSON.stringify({ session: unlimited, user: unlimited }));
  const metricsPort = await freePort();
  const start = {
    directory: directory.path,
    port: await freePort(),
    environment: {
      ...{ ...platforms.environment, ...keyDirectories },
      ...{ LIMITS_FILE: limitsFile, METRICS_PORT: String(metricsPort), LOG_LEVEL: 'warn' },
    },
  };
  const running = { service: await startService(start) };
  t.teardown(() => running.service.kill());
  const client = makeServiceClient(running.service.url);

  // Given orders for users and projects, and stories of their payments
  const orders = await placeOrders(client, {
    count: Math.ceil(deliveries / 15),
    platforms: Object.values(platforms.all),
    random,
  });
  const fates = new Map(
    orders.flatMap(({ story }) =>
      story.messages.map(({ message, fate, isSilent }) => [message, { fate, isSilent }] as const),
    ),
  );
  const byName = new Map<string, Platform>(Object.entries(platforms.all));

  // When the platforms deliver every message, most more than once, and the service is killed meanwhile
  const delivery = makeDelivery({
    deliveries: drawDeliveries(orders, deliveries, random),
    platforms: byName,
    port: start.port,
    random,
  });
  const moments = Array.from({ length: kills }, () => Math.floor(random() * deliveries * 0.98));
  const beganMs = performance.now();
  const last = orders.flatMap(({ story }) => story.dispensable);
  const killing = killAt(moments, { running, delivery, start, random, last });
  for (const end of await Promise.allSettled([delivery.run(), killing])) {
    if (end.status === 'rejected') throw end.reason;
  }
  const tookMs = performance.now() - beganMs;
  t.is(delivery.acknowledged(), deliveries);
  t.is(delivery.firstAt.size, fates.size);

  // Then every order ends as its story does, for every reader
  const seen = await signInAgain(client, orders);
  const isSo = async (): Promise<readonly string[]> => [
    ...(await findOrderProblems(client, seen)),
    ...(await findGrantProblems(client, seen)),
    ...(await findOpenReactions(metricsPort)),
  ];
  t.deepEqual(await untilEmpty(isSo), []);
  t.is(await running.service.stop(), 0);

  // and the log contains each acknowledged callback from before its acknowledgement, with one end and one effect
  const { events, problems } = await inspectDisk(directory.path);
  t.deepEqual(problems, []);
  const sent = [
    ...[...fates].map(([message, end]) => {
      return { message, ...end, acknowledgedAtMs: delivery.firstAt.get(message) ?? null };
    }),
    ...last.map((message) => ({ message, fate: 'applied', isSilent: true, acknowledgedAtMs: null }) as const),
  ];
  t.deepEqual(findCallbackProblems(events, sent), []);
  t.deepEqual(findRepetitions(events), []);
  const grants = replayGrants(events);
  t.deepEqual(grants.problems, []);
  const wrong = orders.filter((order) =>
    placesOfGrant(order).some((place) => grants.held.has(place) !== order.story.end.isGranted),
  );
  t.deepEqual(
    wrong.map(({ id }) => id),
    [],
  );
  t.log(
    `seed ${campaignSeed}: ${orders.length} orders, ${fates.size} messages in ${deliveries} deliveries, ${kills} kills, ` +
      `${delivery.repeated()} not acknowledged, ${events.length} events, ${Math.round(tookMs / 1_000)} s`,
  );
}

/** Draws deliveries in any order. The messages of some orders come close together. A third of them come once. */
function drawDeliveries(
  orders: readonly Bought[],
  count: number,
  random: Random,
): readonly PlatformMessage[] {
  const placed: { readonly message: PlatformMessage; readonly at: number }[] = [];
  const repeatable: (() => void)[] = [];
  for (const { story } of orders) {
    const [around, width] = random() < 0.5 ? [random(), 0.002] : [0, 1];
    for (const { message } of story.messages) {
      const add = (): void => {
        placed.push({ message, at: around + width * random() });
      };
      add();
      if (random() < 2 / 3) repeatable.push(add);
    }
  }
  if (placed.length > count) throw new Error('there are more messages than deliveries');
  while (placed.length < count) repeatable[Math.floor(random() * repeatable.length)]?.();
  return placed.sort((one, other) => one.at - other.at).map(({ message }) => message);
}

/**
 * Kills the service shortly after each number of acknowledged deliveries, at times during its next start, too.
 * @param last messages that are sent right before a kill, some at each, and never again
 */
async function killAt(
  moments: readonly number[],
  {
    running,
    delivery,
    start,
    random,
    last,
  }: {
    readonly running: { service: ServiceProcess };
    readonly delivery: Delivery;
    readonly start: StartOptions;
    readonly random: Random;
    readonly last: readonly PlatformMessage[];
  },
): Promise<void> {
  const left = [...last];
  for (const moment of [...moments].sort((one, other) => one - other)) {
    // The moments are counts and not times, so a slow machine is as busy when it is killed.
    while (delivery.acknowledged() < moment && !delivery.hasFailed()) await sleep(2);
    if (delivery.hasFailed()) return;
    const leaving = left.splice(0, lastAtOnce).map((message) => delivery.leave(message));
    await sleep(random() * 60);
    await running.service.kill();
    await Promise.all(leaving);
    if (random() < 0.25) {
      const starting = spawnService(start);
      await sleep(random() * 900);
      await starting.kill();
    }
    running.service = await startService(start);
  }
}

/** Returns the open events of the payment reactions as lines of the metrics. */
async function findOpenReactions(metricsPort: number): Promise<readonly string[]> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const open = metrics.match(
    /^stowage_reaction_open_events\{reaction="(?:pass-on-payment-callbacks|tell-payment-reports|fulfil-orders|fulfil-paid-orders)"\} \d+$/gm,
  );
  if (open?.length !== 4) throw new Error('the metrics lack a reaction');
  return open.filter((line) => !line.endsWith(' 0'));
}

/** Waits for reactions and views, which follow the log later on a slow machine. */
async function untilEmpty(find: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const deadline = Date.now() + 5 * 60_000;
  for (;;) {
    const problems = await find();
    if (problems.length === 0 || Date.now() > deadline) return problems;
    await sleep(200);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
