import { setTimeout as sleep } from 'node:timers/promises';
import { mkdir, writeFile } from 'node:fs/promises';
import { pluck } from '../support/given/pluck.js';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Random } from '../../src/kit/time/clock.js';
import type { LogEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { makeServiceClient } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import {
  withoutLimits,
  givenDirectory,
  freePort,
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
import { makePlatforms, type Platform, type PlatformMessage, type Platforms } from './payment-senders.js';

interface Campaign {
  readonly seed: number;
  /** Acknowledged callbacks, repetitions included. */
  readonly deliveries: number;
  readonly kills: number;
  readonly processes: number;
  /** The stores of all processes; each process has a data directory. */
  readonly environment: Readonly<Record<string, string>>;
  /** Reads the log and the views after the end of the processes. @param directory the data directory of the first process */
  readonly inspect: (
    directory: string,
  ) => Promise<{ readonly events: readonly LogEvent[]; readonly problems: readonly string[] }>;
}

/** A process that a campaign kills and starts again. */
interface Member {
  readonly start: StartOptions;
  readonly metricsPort: number;
  service: ServiceProcess;
}

const lastAtOnce = 10;
/** Other tests and measurements may hold the machine for minutes. */

/**
 * Sends callbacks of all six platforms, repeated and reordered, to processes that are killed, and checks the end: each
 * acknowledged callback is in the log and applied once, and orders and grants are those of the stories of the platforms.
 */
export async function runPaymentCampaign(t: ExecutionContext, campaign: Campaign): Promise<void> {
  const { deliveries, kills } = campaign;
  const random = makeSeededRandom(campaign.seed);
  const platforms = makePlatforms();
  const members: Member[] = [];
  for (let index = 0; index < campaign.processes; index += 1) {
    members.push(await startMember(t, campaign, platforms));
  }
  const [first] = members;
  if (first === undefined) throw new Error('a campaign has a process');
  const client = makeServiceClient(first.service.url);

  // Given orders for users and projects, and stories of their payments
  const orders = await placeOrders(client, {
    count: Math.ceil(deliveries / 15),
    platforms: platforms.all,
    random,
  });
  const fates = new Map(
    orders.flatMap(({ story }) =>
      story.messages.map(({ message, fate, isSilent }) => [message, { fate, isSilent }] as const),
    ),
  );
  const byName = new Map<string, Platform>(platforms.all.map((one) => [one.name, one]));

  // When the platforms deliver every message, most more than once, and processes are killed meanwhile
  const delivery = makeDelivery({
    deliveries: drawDeliveries(orders, deliveries, random),
    platforms: byName,
    ports: members.map(({ start }) => start.port),
    random,
  });
  const moments = Array.from({ length: kills }, () => Math.floor(random() * deliveries * 0.98));
  const beganMs = performance.now();
  const last = orders.flatMap(({ story }) => story.dispensable);
  const killing = killAt(moments, { members, delivery, random, last });
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
    ...(await findOpenReactions(members)),
  ];
  t.deepEqual(await untilEmpty(isSo), []);
  for (const { service } of members) t.is(await service.stop(), 0);

  // and the log contains each acknowledged callback from before its acknowledgement, with one end and one effect
  const { events, problems } = await campaign.inspect(first.start.directory);
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
  t.deepEqual(pluck(wrong, 'id'), []);
  t.log(
    `seed ${campaign.seed}, ${members.length} processes: ${orders.length} orders, ${fates.size} messages in ${deliveries} ` +
      `deliveries, ${kills} kills, ${delivery.repeated()} not acknowledged, ${events.length} events, ` +
      `${Math.round(tookMs / 1_000)} s`,
  );
}

async function startMember(
  t: ExecutionContext,
  { environment }: Campaign,
  platforms: Platforms,
): Promise<Member> {
  const directory = givenDirectory(t);
  const keyDirectories: Record<string, string> = {};
  for (const [variable, { file, pem }] of Object.entries(platforms.keyFiles)) {
    const path = join(directory, variable.toLowerCase());
    await mkdir(path);
    await writeFile(join(path, file), pem);
    keyDirectories[variable] = path;
  }
  const metricsPort = await freePort();
  const start = {
    directory,
    port: await freePort(),
    environment: {
      ...{ ...environment, ...platforms.environment, ...keyDirectories },
      ...{ ...withoutLimits(t), METRICS_PORT: String(metricsPort), LOG_LEVEL: 'warn' },
    },
  };
  const member: Member = { start, metricsPort, service: await startService(start) };
  t.teardown(() => member.service.kill());
  return member;
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
      const add = () => placed.push({ message, at: around + width * random() });
      add();
      if (random() < 2 / 3) repeatable.push(add);
    }
  }
  if (placed.length > count) throw new Error('there are more messages than deliveries');
  while (placed.length < count) repeatable[Math.floor(random() * repeatable.length)]?.();
  return placed.sort((one, other) => one.at - other.at).map(({ message }) => message);
}

/**
 * Kills processes shortly after each number of acknowledged deliveries: mostly one, at times all, and at times during the
 * next start, too.
 * @param last messages that are sent right before a kill, some at each, and never again
 */
async function killAt(
  moments: readonly number[],
  {
    members,
    delivery,
    random,
    last,
  }: {
    readonly members: readonly Member[];
    readonly delivery: Delivery;
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
    const drawn = Math.floor(random() * members.length);
    const killed = random() < 0.2 ? members : members.filter((_, index) => index === drawn);
    await Promise.all(killed.map(({ service }) => service.kill()));
    await Promise.all(leaving);
    for (const member of killed) {
      if (random() < 0.25) {
        const starting = spawnService(member.start);
        await sleep(random() * 900);
        await starting.kill();
      }
      member.service = await startService(member.start);
    }
  }
}

const reactions = ['apply-payment-reports', 'fulfil-orders'];

/** Returns the open events of the payment reactions as lines of the metrics. One process runs a reaction for all. */
async function findOpenReactions(members: readonly Member[]): Promise<readonly string[]> {
  const metrics = await Promise.all(
    members.map(async ({ metricsPort }) => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()),
  );
  const lines = metrics.join('\n').split('\n');
  return reactions.flatMap((reaction) => {
    const own = lines.filter((line) =>
      line.startsWith(`stowage_reaction_open_events{reaction="${reaction}"} `),
    );
    return own.length === 0 ? [`no process runs ${reaction}`] : own.filter((line) => !line.endsWith(' 0'));
  });
}

/** Waits for reactions and views, which follow the log later on a slow machine. */
async function untilEmpty(find: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let problems: readonly string[] = [];
  await eventually(
    () => problems.join('\n'),
    async () => {
      problems = await find();
      return problems.length === 0;
    },
    { pollMs: 200 },
  );
  return problems;
}
