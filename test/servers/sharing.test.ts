import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { projections } from '../../projections/index.js';
import type { Random } from '../../src/event-sourcing/ports/clock.js';
import type { StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { collectionName } from '../../src/event-sourcing/views/projection.js';
import { makeServiceClient, type ServiceClient } from '../support/clients/service-client.js';
import { keyEnvironment } from '../support/examples/service-keys.js';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import { openTestStore } from '../support/servers/eventstoredb-server/open-test-store.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { makeTestDatabase, mongoDbUrl, openStoresAt } from '../support/servers/mongodb-server.js';
import { findLogProblems, findViewProblems, readLog } from '../support/servers/service-log.js';
import {
  freePort,
  makeDataDirectory,
  type ServiceProcess,
  spawnService,
  startService,
} from '../support/servers/service-process.js';
import { startSmtpServer } from '../support/servers/smtp-server.js';

/*
 * Three services share a fake EventStoreDB and the MongoDB of MONGODB_URL. In each round some are killed or frozen, and one
 * stays. DEEP_SEED=<printed> repeats the choices; DEEP_BUDGET multiplies the 5 rounds.
 */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const rounds = Math.ceil(5 * Number(process.env['DEEP_BUDGET'] ?? '1'));
const processes = 3;
/** The design says 15 s. A busy machine starts processes and answers late. */
const behindMsMax = 90_000;
/** Copies of their streams change views and call for no reaction. */
const copied = ['project', 'session', 'node'];
const unlimited = { limit: 1_000_000, seconds: 1 };

interface World {
  readonly log: EventStore;
  readonly readModels: ReadModelStore;
  readonly spawn: () => Promise<ServiceProcess>;
  readonly live: ServiceProcess[];
  readonly frozen: ServiceProcess[];
}

if (mongoDbUrl === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('The test of processes that share MongoDB runs when MONGODB_URL names a server', () => undefined);
} else {
  test('Services that are killed and frozen share views and reactions, which end right and in time', async (t) => {
    t.timeout(rounds * 3 * 60_000);
    t.log(`DEEP_SEED=${seed}`);
    const random = makeSeededRandom(seed);
    const world = await givenServices(t);
    const { log, readModels, live, spawn } = world;
    const client = makeServiceClient(live[0]?.url ?? '');
    const owner = await client.register('ada@example.org', 'Correct-Horse-7');
    await client.post('/api/v1/projects', { name: 'Film' }, owner.headers);
    const examples = examplesOf(await readLog(log));
    t.true(examples.length >= 2);

    let behindMs = 0;
    let disturbed = 0;
    for (let round = 0; round < rounds; round += 1) {
      restore(world);
      while (live.length < processes) live.push(await spawn());
      live.sort(() => random() - 0.5);
      const survivor = live[0]?.url ?? '';
      const asking = askForCode(makeServiceClient(survivor), `user${round}@example.org`);
      disturbed += await disturb(world, random);
      await asking;
      const beganMs = performance.now();
      const streams = await Promise.all(examples.map((events) => copyStream(log, events)));
      await untilShown(readModels, streams);
      behindMs = Math.max(behindMs, performance.now() - beganMs);
    }
    t.log(`${rounds} rounds, ${disturbed} disturbed, behind for at most ${Math.round(behindMs)} ms`);
    t.true(behindMs < behindMsMax);

    // Then every view is the fold of the log, and every asked mail has one outcome
    restore(world);
    await untilMailed(log);
    for (const service of live) t.is(await service.stop(), 0);
    const events = await readLog(log);
    t.deepEqual(findLogProblems(events), []);
    t.deepEqual(await findViewProblems(events, readModels, () => 1), []);
    const count = (wanted: string): number => events.filter(({ type }) => type === wanted).length;
    t.is(count('LoginCodeMailed'), count('LoginCodeIssued'));
    // The reply leaves after the append, so no kill loses an acknowledged request.
    t.true(count('LoginCodeIssued') + count('LoginCodeWithheld') >= rounds);
    t.log(`${count('LoginCodeIssued')} of ${rounds} codes were issued`);
  });
}

function restore({ live, frozen }: World): void {
  for (const service of frozen.splice(0)) {
    service.signal('SIGCONT');
    live.push(service);
  }
}

/** Kills or freezes some services, but never the first. @returns their number */
async function disturb({ live, frozen }: World, random: Random): Promise<number> {
  const victims = live.slice(1).filter(() => random() < 0.8);
  for (const victim of victims) {
    live.splice(live.indexOf(victim), 1);
    if (random() < 0.5) {
      victim.signal('SIGSTOP');
      frozen.push(victim);
    } else {
      await victim.kill();
    }
  }
  return victims.length;
}

async function givenServices(t: ExecutionContext): Promise<World> {
  const server = await startEventStoreDbServer();
  const smtp = await startSmtpServer();
  const { url } = await makeTestDatabase(t);
  const directory = await makeDataDirectory();
  const limitsFile = join(directory.path, 'limits.json');
  const names = ['session', 'register', 'email_code', 'email_code_day'];
  await writeFile(limitsFile, JSON.stringify(Object.fromEntries(names.map((name) => [name, unlimited]))));
  const environment = {
    ...keyEnvironment,
    EVENTSTOREDB_URL: server.url,
    MONGODB_URL: url,
    SMTP_URL: smtp.url,
    MAIL_FROM: 'no-reply@stowage.example',
    LIMITS_FILE: limitsFile,
    LOG_LEVEL: 'warn',
  };
  const log = openTestStore(server.url, { streamPrefix: 'stowage.' });
  const { readModelStore } = await openStoresAt(t, url, { clock: realClock });
  const all: ServiceProcess[] = [];
  t.teardown(async () => {
    await Promise.all(all.map((service) => service.kill()));
    await log.close();
    await server.close();
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
    const service = await startService({ ...(await optionsOf()), readyWithinMs: 120_000 });
    all.push(service);
    return service;
  };
  // A service that is killed during its start leaves a record that never changes.
  await spawnService(await optionsOf()).kill();
  const live: ServiceProcess[] = [];
  while (live.length < processes) live.push(await spawn());
  return { log, readModels: readModelStore, spawn, live, frozen: [] };
}

/** Returns the events of one stream of each category that is copied. */
function examplesOf(events: readonly StoredEvent[]): readonly (readonly StoredEvent[])[] {
  return copied
    .map((category) => events.find(({ stream }) => stream.startsWith(`${category}-`))?.stream)
    .filter((stream) => stream !== undefined)
    .map((stream) => events.filter((event) => event.stream === stream));
}

/** Appends a copy of the stream past the services, so that only a projector writes its document. @returns its name */
async function copyStream(log: EventStore, events: readonly StoredEvent[]): Promise<string> {
  const stream = `${events[0]?.stream.split('-')[0] ?? ''}-${randomUUID()}`;
  const copies = events.map(({ type, data, metadata }) => ({ id: randomUUID(), type, data, metadata }));
  await log.append(stream, 'no-stream', copies);
  return stream;
}

async function untilShown(readModels: ReadModelStore, streams: readonly string[]): Promise<void> {
  for (const stream of streams) {
    const [category = ''] = stream.split('-');
    for (const projection of projections.filter((candidate) => candidate.category === category)) {
      const id = stream.slice(category.length + 1);
      const collection = collectionName(projection, 1);
      while ((await readModels.get(collection, id)) === null) await wait(100);
    }
  }
}

/** Registers a person and asks for a mailed code, until the service acknowledges. */
async function askForCode(client: ServiceClient, email: string): Promise<void> {
  for (;;) {
    const registered = await client.post('/api/v1/auth/register', { email, password: 'Correct-Horse-7' });
    if (registered.status === 201 || registered.status === 409) break;
    await wait(200);
  }
  while ((await client.post('/api/v1/auth/email-code/send', { email })).status >= 500) await wait(200);
}

/** A killed process holds the claim of its mail for a minute. */
async function untilMailed(log: EventStore): Promise<void> {
  const deadline = Date.now() + 180_000;
  for (;;) {
    const events = await readLog(log);
    const count = (type: string): number => events.filter((event) => event.type === type).length;
    const [issued, mailed] = [count('LoginCodeIssued'), count('LoginCodeMailed')];
    if (mailed >= issued) return;
    if (Date.now() > deadline) throw new Error(`${mailed} of ${issued} codes were mailed`);
    await wait(500);
  }
}
