import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Random } from '../../src/kit/time/clock.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { findRepetitions, placesOfGrant, replayGrants } from '../deep/payment-log.js';
import { makePlatforms, type Platform } from '../deep/payment-senders.js';
import { secrets } from '../areas/payments/platforms/messages/messages.js';
import { asObject, makeServiceClient, operate, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import {
  withoutLimits,
  keyEnvironment,
  freePort,
  makeDataDirectory,
  type ServiceProcess,
  spawnService,
  startService,
} from '../support/servers/service-process.js';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import {
  startSuiteLog,
  makeTestDatabase,
  mongoDbSuite,
  openStoresAt,
} from '../support/servers/store-servers.js';
import { findMailProblems, startSmtpServer, type TestSmtpServer } from '../support/servers/smtp-server.js';
import { findLogProblems, findViewProblems, readLog } from '../support/servers/service-log-and-disk.js';
import { watchViews } from '../support/servers/watch-views.js';

/*
 * Three services share a fake EventStoreDB and the MongoDB of MONGODB_URL. In each round some are killed or frozen, mostly
 * the one that feeds, and one stays. DEEP_SEED=<printed> repeats the choices. DEEP_BUDGET multiplies the 100 rounds; without
 * it there are 5.
 */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const rounds = Math.ceil(100 * Number(process.env['DEEP_BUDGET'] ?? '0.05'));
const processes = 3;
/** The limit without the time that the processes waited for a core: src/event-sourcing/feeding/README.md#the-lease. */
const behindMsMax = 15_000;
const password = 'Correct-Horse-7';
const standard = makePlatforms().all.find(({ name }) => name === 'standard') as Platform;

interface World {
  readonly log: EventStore;
  readonly readModels: ReadModelStore;
  readonly smtp: TestSmtpServer;
  readonly spawn: () => Promise<ServiceProcess>;
  readonly live: ServiceProcess[];
  readonly frozen: ServiceProcess[];
  /** When processes were killed or frozen, in epoch milliseconds. */
  readonly disturbedAtMs: number[];
  /** How many of them were feeders. */
  disturbedFeeders: number;
}

/** An order that was paid. */
interface Paid {
  readonly id: string;
  readonly userId: string;
  readonly projectId: null;
}

mongoDbSuite(test, 'The test of processes that share MongoDB', () => {
  test('Services that are killed and frozen share views and reactions, which end right and in time', async (t) => {
    t.timeout(rounds * 3 * 60_000);
    t.log(`DEEP_SEED=${seed}`);
    // Given services that share both servers, and a view that is watched all along
    const random = makeSeededRandom(seed);
    const world = await givenServices(t);
    const { log, readModels, live, frozen, smtp, spawn, disturbedAtMs } = world;
    const client = makeServiceClient(live[0]?.url ?? '');
    const owner = await client.register('ada@example.org', password);
    await client.post('/api/v1/projects', { name: 'Film' }, owner.headers);
    const events = await readLog(log);
    const watch = watchViews({ log, readModels, events, processes: () => live });

    // When some of them are killed or frozen, while people register, ask for mails and pay
    const paid: Paid[] = [];
    for (let round = 0; round < rounds; round += 1) {
      restore(world);
      while (live.length < processes) live.push(await spawn());
      const { survivor, victims } = await chooseVictims(world, random);
      const serving = serve(survivor, `user${round}@example.org`);
      await disturb(world, victims, random);
      paid.push(await serving);
      await watch.shown();
    }
    restore(world);
    await watch.shown();
    await watch.stop();

    // Then no view was behind for long
    const { tookMs, ownMs } = watch.behind();
    t.log(
      `${rounds} rounds, ${disturbedAtMs.length} disturbed, ${world.disturbedFeeders} of them feeders; behind for at most ` +
        `${Math.round(tookMs)} ms, and ${Math.round(ownMs)} ms without the waits for a core`,
    );
    t.true(ownMs < behindMsMax, `a view was ${ownMs} ms behind`);
    t.true(world.disturbedFeeders > rounds / 2);

    // and every view is the fold of the log
    await untilDone(log, paid);
    t.deepEqual(frozen, []);
    for (const service of live) t.is(await service.stop(), 0);
    const ended = await readLog(log);
    t.deepEqual(findLogProblems(ended), []);
    t.deepEqual(await findViewProblems(ended, readModels, () => 1), []);

    // and each reaction has taken effect once: mails have one outcome and came once, and each paid order is granted once
    const all = (wanted: string) => ended.filter(({ type }) => type === wanted);
    t.is(all('LoginCodeMailed').length, all('LoginCodeIssued').length);
    // The reply leaves after the append, so no kill loses an acknowledged request.
    t.true(all('LoginCodeIssued').length + all('LoginCodeWithheld').length >= rounds);
    const codes = findMailProblems(all('LoginCodeIssued'), smtp.mails, disturbedAtMs);
    const confirmations = findMailProblems(
      all('EmailVerificationRequested'),
      smtp.confirmations,
      disturbedAtMs,
    );
    t.deepEqual([...codes.problems, ...confirmations.problems], []);
    t.deepEqual(findRepetitions(ended), []);
    const { held, problems } = replayGrants(ended);
    t.deepEqual(problems, []);
    t.deepEqual(
      paid.flatMap(placesOfGrant).filter((place) => !held.has(place)),
      [],
    );
    t.log(
      `${smtp.mails.length} codes and ${smtp.confirmations.length} confirmations were mailed, of these ` +
        `${codes.repeated + confirmations.repeated} again; ${paid.length} orders were granted`,
    );
  });
});

function restore({ live, frozen }: World): void {
  for (const service of frozen.splice(0)) {
    service.signal('SIGCONT');
    live.push(service);
  }
}

/** Chooses the process that stays, which feeds nothing, and those that do not. */
async function chooseVictims({ live }: World, random: Random) {
  const feeders = new Set(await feedersAmong(live));
  const others = live.filter((service) => !feeders.has(service)).sort(() => random() - 0.5);
  const [survivor, ...rest] = [...others, ...feeders];
  if (survivor === undefined) throw new Error('no process is live');
  const victims = rest.filter((service) => random() < (feeders.has(service) ? 0.9 : 0.4));
  return { survivor, victims: victims.map((service) => ({ service, isFeeder: feeders.has(service) })) };
}

/** Returns the processes that feed views. Two may do so for a moment after another one has come back. */
async function feedersAmong(services: readonly ServiceProcess[]): Promise<readonly ServiceProcess[]> {
  const found = await Promise.all(
    services.map(async (service) => {
      const { process, components } = asObject(await operate(service.directory, 'status', {}));
      const feeds = (Array.isArray(components) ? components : []).map(asObject).some(({ kind, feeders }) => {
        return (
          kind === 'view' && Array.isArray(feeders) && process !== undefined && feeders.includes(process)
        );
      });
      return feeds ? [service] : [];
    }),
  );
  return found.flat();
}

async function disturb(
  world: World,
  victims: readonly { readonly service: ServiceProcess; readonly isFeeder: boolean }[],
  random: Random,
): Promise<void> {
  const { live, frozen, disturbedAtMs } = world;
  for (const { service, isFeeder } of victims) {
    // The work of the round is under way.
    await wait(random() * 300);
    live.splice(live.indexOf(service), 1);
    disturbedAtMs.push(Date.now());
    if (isFeeder) world.disturbedFeeders += 1;
    if (random() < 0.5) {
      service.signal('SIGSTOP');
      frozen.push(service);
    } else {
      await service.kill();
    }
  }
}

async function givenServices(t: ExecutionContext): Promise<World> {
  const ofLog = await startSuiteLog(t);
  const smtp = await startSmtpServer();
  const { url } = await makeTestDatabase(t);
  const directory = await makeDataDirectory();
  const environment = {
    ...keyEnvironment,
    ...ofLog.environment,
    MONGODB_URL: url,
    // The mails of all processes name one address.
    PUBLIC_URL: 'https://stowage.example.com',
    SMTP_URL: smtp.url,
    MAIL_FROM: 'no-reply@stowage.example',
    PAYMENT_STANDARD_WEBHOOK_SECRETS: secrets.standard,
    ...withoutLimits(t),
    LOG_LEVEL: 'warn',
  };
  const log = ofLog.open();
  const { readModelStore } = await openStoresAt(t, url, { clock: realClock });
  const all: ServiceProcess[] = [];
  t.teardown(async () => {
    await Promise.all(all.map((service) => service.kill()));
    await log.close();
    await smtp.close();
    await directory.remove();
  });
  let started = 0;
  const optionsOf = async () => ({
    directory: join(directory.path, String((started += 1))),
    port: await freePort(),
    environment,
  });
  const spawn = async (): Promise<ServiceProcess> => {
    const service = await startService(await optionsOf());
    all.push(service);
    return service;
  };
  // A service that is killed during its start leaves a record that never changes.
  await spawnService(await optionsOf()).kill();
  const live: ServiceProcess[] = [];
  while (live.length < processes) live.push(await spawn());
  const disturbances = { disturbedAtMs: [], disturbedFeeders: 0 };
  return { log, readModels: readModelStore, smtp, spawn, live, frozen: [], ...disturbances };
}

/** Registers a person who asks for a mailed code and pays an order, each until the service acknowledges. */
async function serve({ url }: ServiceProcess, email: string): Promise<Paid> {
  const client = makeServiceClient(url);
  const until = async (statuses: readonly number[], ask: () => ReturnType<typeof client.get>) => {
    for (;;) {
      const reply = await ask();
      if (statuses.includes(reply.status)) return reply;
      if (reply.status < 500) throw new Error(`answered ${reply.status}: ${reply.text}`);
      await wait(200);
    }
  };
  await until([201, 409], () => client.post('/api/v1/auth/register', { email, password }));
  await until([202, 204, 200], () => client.post('/api/v1/auth/email-code/send', { email }));
  await until([200], () => client.post('/api/v1/auth/login', { email, password }));
  const { userId, headers } = await client.login(email, password);
  const plan = { plan_id: 'capacity-100g', provider: 'standard' };
  const order = (await until([201], () => client.post('/api/v1/orders', plan, headers))).json();
  const number = textOf(order, 'number');
  const payment = {
    ...{ orderNumber: number, transaction: `T${number}` },
    ...{ amount: Number(order['amount']), currency: textOf(order, 'currency') },
  };
  for (const message of standard.tell(payment, { kind: 'paid' }, new Date())) {
    await until([200, 204], () => {
      const { method, query, headers: signature, body } = message.sign(new Date());
      const path = `/api/v1/payment/webhooks/standard${query}`;
      return client.send(path, { method, headers: { ...signature }, body });
    });
  }
  return { id: textOf(order, 'id'), userId, projectId: null };
}

/** Waits for the reactions. A killed process holds the claim of its mail for a minute. */
async function untilDone(log: EventStore, paid: readonly Paid[]): Promise<void> {
  let open: readonly number[] = [];
  const isDone = async (): Promise<boolean> => {
    const events = await readLog(log);
    const count = (type: string): number => events.filter((event) => event.type === type).length;
    open = [
      ...[count('LoginCodeIssued') - count('LoginCodeMailed')],
      ...[count('EmailVerificationRequested') - count('EmailVerificationMailed')],
      paid.length - count('OrderFulfilled'),
    ];
    return open.every((left) => left <= 0);
  };
  await eventually(() => `no code, confirmation or order is open: ${open.join()}`, isDone, { pollMs: 500 });
}
