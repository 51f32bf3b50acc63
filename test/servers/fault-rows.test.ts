import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { makeSemaphore } from '../../src/kit/semaphore.js';
import type { Random } from '../../src/kit/time/clock.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import {
  asObject,
  makeServiceClient,
  type ServiceClient,
  type ServiceReply,
  type SignedIn,
  textOf,
} from '../support/clients/service-client.js';
import {
  withoutLimits,
  freePort,
  type ServiceProcess,
  startService,
} from '../support/servers/service-process.js';
import { readLog } from '../support/servers/service-log-and-disk.js';
import { startProxiedServers, mongoDbSuite } from '../support/servers/store-servers.js';
import { type FaultRow, faultRows } from '../support/servers/fault-rows.js';
import {
  makeLedger,
  settle,
  type Acknowledged,
  type Ledger,
  type Unanswered,
} from '../support/servers/service-ledger.js';
import { measureMs } from '../support/servers/process-costs.js';
import { givenDirectory } from '../support/directories.js';

const password = 'Correct-Horse-7';
/** The names of the projects that are renamed. */
const renamedPrefix = 'renamed ';
const kinds = ['GET project', 'GET projects', 'PATCH project', 'POST login', 'POST project'];
const betweenMs = 200;
const processes = 2;
/** A sign-in hashes a password, and a user has at most 50 sessions. */
const creationsPerLogin = 8;
/** An account has at most 100 projects, so each writer has an account, and waits after a 503. */
const afterRefusalMs = 1_500;
const projectsMax = 94;
/** The latest reply under any fault, without the waits for a core: src/http/access/README.md#limit-of-a-request. */
const replyMsMax = 20_000;
/**
 * DEEP_BUDGET=1 repeats every row with each server; without it each kind of fault has one row, and the one whose calls take
 * longer than their limits has two.
 */
const isWhole = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1;
const writersMax = isWhole ? 8 : 4;
const fewRows: Readonly<Record<'log' | 'documents', readonly string[]>> = {
  log: [
    'is killed and back after 5 s',
    'is frozen for 20 s',
    'loses each tenth reply for 10 s',
    'answers each call after 3 s for 10 s',
  ],
  documents: [
    'loses its connections twice a second for 5 s',
    'holds back each twentieth reply for 10 s',
    'answers each call after 3 s for 10 s',
    'passes 30 kB a second for 10 s',
  ],
};
/** Services that run at once, so that the machine keeps up with them. */
const rowsAtOnce = makeSemaphore(4);

/** Two processes on a log and a database, each behind a proxy. */
async function givenServices(t: ExecutionContext) {
  const { environment, open, proxies } = await startProxiedServers(t);
  const directory = givenDirectory(t);
  const limits = withoutLimits(t);
  const services: ServiceProcess[] = [];
  t.teardown(async () => {
    for (const service of services) await service.kill();
  });
  while (services.length < processes) {
    const service = await startService({
      directory: join(directory, String(services.length)),
      port: await freePort(),
      environment: {
        ...{ ...environment, ...limits },
        PUBLIC_URL: 'https://stowage.example.com',
      },
    });
    services.push(service);
  }
  return { services, openLog: open, proxies };
}

/** The slowest reply of each kind of request in milliseconds, as measured and without the waits for a core. */
type Slowest = Map<string, { readonly tookMs: number; readonly ownMs: number }>;

/** A client whose replies are timed, and a person with a project to rename. */
interface Writer {
  readonly name: string;
  readonly email: string;
  readonly client: ServiceClient;
  readonly owner: SignedIn;
  readonly ledger: Ledger;
  readonly renamed: { readonly path: string; name: string; readonly unknown: Set<string> };
  /** Sends a request and times its reply. @throws Error for another status than the expected one and 503 */
  readonly time: (
    kind: string,
    expected: number,
    ask: () => Promise<ServiceReply>,
  ) => Promise<ServiceReply | null>;
}

/** Counts the requests that are under way during a fault, without the sign-ins, which may all the time wait for a core. */
interface Meeting {
  readonly during: <T>(kind: string, ask: () => Promise<T>) => Promise<T>;
  readonly begin: () => void;
  readonly count: () => number;
}

function makeMeeting(): Meeting {
  let [underWay, met] = [0, 0];
  return {
    during: async (kind, ask) => {
      if (kind === 'POST login') return ask();
      underWay += 1;
      met += 1;
      return ask().finally(() => {
        underWay -= 1;
      });
    },
    begin: () => {
      met = underWay;
    },
    count: () => met,
  };
}

/** Makes a client whose replies are timed. Of a 503 it returns null, after a pause. */
function makeTime(services: readonly ServiceProcess[], slowest: Slowest, meeting: Meeting): Writer['time'] {
  return async (kind, expected, ask) => {
    const measured = await measureMs(() => services);
    const reply = await meeting.during(kind, ask);
    const { tookMs, queuedMs } = await measured();
    const before = slowest.get(kind) ?? { tookMs: 0, ownMs: 0 };
    slowest.set(kind, {
      tookMs: Math.max(before.tookMs, tookMs),
      ownMs: Math.max(before.ownMs, tookMs - queuedMs),
    });
    if (reply.status === expected) return reply;
    if (reply.status !== 503) throw new Error(`${kind} was answered ${reply.status}: ${reply.text}`);
    await wait(afterRefusalMs);
    return null;
  };
}

/**
 * Creates projects, renames one, lists them and signs in, until the signal aborts. Creations without a result go to the
 * ledger for a repetition. The writers sign in at different times: hashes that all wait for at once would fill the fault.
 */
async function write(writer: Writer, place: number, signal: AbortSignal): Promise<void> {
  const { client, owner, ledger, name, email, renamed, time } = writer;
  for (let index = 0; !signal.aborted && index < projectsMax; index += 1) {
    const project = `${name}-${index}`;
    const request: Unanswered = {
      path: '/api/v1/projects',
      headers: { ...owner.headers, 'idempotency-key': project },
      body: { name: project },
      acknowledge: (created): Acknowledged => ({
        path: `/api/v1/projects/${textOf(created, 'id')}`,
        headers: owner.headers,
        body: { name: project },
      }),
    };
    const created = await time('POST project', 201, () =>
      client.post(request.path, request.body, request.headers),
    );
    if (created === null) ledger.unanswered.push(request);
    else ledger.acknowledged.push(request.acknowledge(created.json()));
    await rename(writer, `${renamedPrefix}${project}`);
    await time('GET project', 200, () => client.get(renamed.path, owner.headers));
    await time('GET projects', 200, () => client.get('/api/v1/projects?limit=20', owner.headers));
    if ((index + place) % creationsPerLogin === 0) {
      await time('POST login', 200, () => client.post('/api/v1/auth/login', { email, password }));
    }
    await wait(betweenMs);
  }
}

/** Renames the project of the writer, and keeps the names that it may have now. */
async function rename({ client, owner, renamed, time }: Writer, name: string): Promise<void> {
  const reply = await time('PATCH project', 200, () => client.patch(renamed.path, { name }, owner.headers));
  if (reply === null) {
    renamed.unknown.add(name);
  } else {
    renamed.unknown.clear();
    renamed.name = name;
  }
}

/** A service that has just got its server back may refuse a list with 503 for a moment, so this asks for a minute. */
async function namesOf(client: ServiceClient, owner: SignedIn): Promise<readonly string[]> {
  const names: string[] = [];
  const giveUpAtMs = performance.now() + 60_000;
  for (let cursor = ''; ;) {
    const path = `/api/v1/projects?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const reply = await client.get(path, owner.headers);
    if (reply.status === 503 && performance.now() < giveUpAtMs) {
      await wait(500);
      continue;
    }
    if (reply.status !== 200)
      throw new Error(`the list of projects was answered ${reply.status}: ${reply.text}`);
    const page: JsonObject = reply.json();
    const items = Array.isArray(page['items']) ? page['items'] : [];
    names.push(...items.map((item) => textOf(asObject(item), 'name')));
    const next = page['next_cursor'];
    if (typeof next !== 'string') return names;
    cursor = next;
  }
}

function makeRandom(seed: number): Random {
  let state = seed;
  // A linear congruential generator (Numerical Recipes, 7.1): a fixed seed repeats the faults.
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

async function endure(t: ExecutionContext, which: 'log' | 'documents', row: FaultRow): Promise<void> {
  // Given two processes with clients that write and read
  const { services, openLog, proxies } = await givenServices(t);
  const slowest: Slowest = new Map();
  const ledger = makeLedger();
  const meeting = makeMeeting();
  const time = makeTime(services, slowest, meeting);
  const writers: Writer[] = [];
  for (let index = 0; index < writersMax; index += 1) {
    const client = makeServiceClient(services[index % services.length]?.url ?? '');
    const [name, email] = [`w${index}`, `ada-${index}@example.org`];
    const owner = await client.register(email, password);
    const body = { name: `${renamedPrefix}${name}` };
    const project = (await client.post('/api/v1/projects', body, owner.headers)).json();
    const renamed = {
      path: `/api/v1/projects/${textOf(project, 'id')}`,
      name: body.name,
      unknown: new Set<string>(),
    };
    writers.push({ name, email, client, owner, ledger, renamed, time });
  }
  const ending = new AbortController();
  const writing = writers.map((writer, place) => write(writer, place, ending.signal));
  await wait(2_000);
  // When a server has the fault for a while
  meeting.begin();
  await row(proxies[which], makeRandom(7));
  const met = meeting.count();
  await wait(3_000);
  ending.abort();
  await Promise.all(writing);
  const open = ledger.unanswered.length;
  const [first] = writers;
  if (first === undefined) throw new Error('there is no writer');
  for (const request of ledger.unanswered) {
    const settled = await settle(first.client, request, true);
    if (settled !== null) ledger.acknowledged.push(settled);
  }
  // Then clients have met the fault, and every reply came in time
  t.true(met >= writersMax / 2, `${met} requests met the fault`);
  for (const [kind, { tookMs, ownMs }] of slowest)
    t.true(ownMs <= replyMsMax, `a reply to ${kind} came after ${tookMs} ms`);
  t.deepEqual([...slowest.keys()].sort(), kinds);
  // and each project exists once, with a name that was acknowledged last or not refused since
  const expected = ledger.acknowledged.map(({ body }) => body['name']).sort();
  const names = (await Promise.all(writers.map(({ client, owner }) => namesOf(client, owner)))).flat();
  t.deepEqual(names.filter((name) => !name.startsWith(renamedPrefix)).sort(), expected);
  const now = names.filter((name) => name.startsWith(renamedPrefix));
  t.is(now.length, writers.length);
  for (const { name, renamed } of writers) {
    const own = now.find((one) => one === renamed.name || renamed.unknown.has(one));
    t.truthy(own, `the project of ${name} is neither ${renamed.name} nor ${[...renamed.unknown].join()}`);
  }
  const log = openLog();
  t.teardown(() => log.close());
  const created = (await readLog(log)).filter(({ type }) => type === 'ProjectCreated').length;
  t.is(created, expected.length + writers.length);
  const times = [...slowest].map(
    ([kind, { tookMs, ownMs }]) => `${kind} ${Math.round(tookMs)} (${Math.round(ownMs)})`,
  );
  t.log(
    `${expected.length} projects, ${open} of them settled by a repetition; ${met} requests met the fault; slowest replies in ms: ${times.join(', ')}`,
  );
}

mongoDbSuite(test, 'The fault rows', () => {
  for (const [which, title] of [
    ['log', 'the log'],
    ['documents', 'MongoDB'],
  ] as const) {
    for (const [what, row] of Object.entries(faultRows)) {
      if (!isWhole && !fewRows[which].includes(what)) continue;
      test(`Nothing is lost or doubled while ${title} ${what}`, async (t) => {
        t.timeout(600_000);
        await rowsAtOnce.run(() => endure(t, which, row));
      });
    }
  }
});
