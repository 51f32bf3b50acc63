import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import {
  withoutLimits,
  givenService,
  keyEnvironment,
  type ServiceProcess,
} from '../support/servers/service-process.js';
import { makeCountingProxy } from '../support/servers/proxies.js';
import { cpuMsOf } from '../support/servers/process-costs.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { makeTestDatabase, mongoDbSuite } from '../support/servers/store-servers.js';

/** DEEP_BUDGET=1 measures two and four processes too, and more writes of each. */
const isWhole = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1;
const counts = isWhole ? [1, 2, 4, 8] : [1, 8];
const writes = isWhole ? 400 : 200;
const rounds = isWhole ? 3 : 2;
/**
 * Code that has run a few times only costs twice the CPU time. After some 3,000 writes a process compiles no more; after
 * 1,000 the cost still falls by a fifth, for one process and for eight.
 */
const warmingWrites = isWhole ? 1_000 : 400;
const writersPerRun = 8;
/** Some work comes once a minute. */
const idleSeconds = 60;
/** A window of whole seconds can hold one more poll of each process than it has seconds. */
const boundary = 1.5 / idleSeconds;

/** What all processes together have asked of the servers, and the CPU time that they have used. */
interface Cost {
  readonly commands: number;
  readonly calls: number;
  readonly cpuMs: number;
}

/** Processes on one log and one database, and what they cost so far. */
async function givenProcesses(t: ExecutionContext, count: number) {
  const { name, url } = await makeTestDatabase(t);
  const { hostname: host, port } = new URL(url);
  const proxy = await makeCountingProxy({ host, port: Number(port) });
  const log = await startEventStoreDbServer();
  t.teardown(async () => {
    await log.close();
    await proxy.close();
  });
  const environment = {
    ...keyEnvironment,
    EVENTSTOREDB_URL: log.url,
    EVENTSTOREDB_ALLOW_INSECURE: 'true',
    MONGODB_URL: `mongodb://127.0.0.1:${proxy.port}/${name}?directConnection=true`,
    PUBLIC_URL: 'https://stowage.example.com',
    LOG_LEVEL: 'error',
    ...withoutLimits(t),
  };
  const services: ServiceProcess[] = [];
  for (let index = 0; index < count; index += 1) {
    const service = await givenService(t, { environment });
    services.push(service);
  }
  return {
    services,
    byName: () => JSON.stringify(proxy.byName()),
    cost: async (): Promise<Cost> => ({
      commands: proxy.count(),
      calls: log.faults.calls.length,
      cpuMs: (await Promise.all(services.map(cpuMsOf))).reduce((sum, ms) => sum + ms, 0),
    }),
  };
}

type Rename = (count: number, through?: readonly ServiceProcess[]) => Promise<void>;

/** Makes projects. @returns the function that renames them through processes in turn, and waits for the views */
async function givenProjects(services: readonly ServiceProcess[]): Promise<Rename> {
  const clientOf = new Map(services.map((service) => [service, makeServiceClient(service.url)]));
  const [first] = clientOf.values();
  if (first === undefined) throw new Error('there is no process');
  const owner = await first.register('ada@example.org', 'Correct-Horse-7');
  const projects: string[] = [];
  for (let index = 0; index < writersPerRun; index += 1) {
    const reply = await first.post('/api/v1/projects', { name: `p${index}` }, owner.headers);
    projects.push(textOf(reply.json(), 'id'));
  }
  return async (count, through = services) => {
    await Promise.all(
      projects.map(async (id, writer) => {
        for (let index = 0; index < count / writersPerRun; index += 1) {
          const service = through[(writer + index) % through.length];
          const client = (service === undefined ? undefined : clientOf.get(service)) ?? first;
          const rename = (): ReturnType<typeof client.send> =>
            client.patch(`/api/v1/projects/${id}`, { name: `p${writer}-${index}` }, owner.headers);
          let reply = await rename();
          // Other work on the machine may keep a server from answering in time.
          for (let again = 0; reply.status === 503 && again < 60; again += 1) {
            await wait(1_000);
            reply = await rename();
          }
          if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${reply.text}`);
        }
      }),
    );
    await wait(3_000);
  };
}

/** Returns what each of the writes costs, beyond what idle processes ask in that time. */
async function costOfWrites(
  { cost, idle, count }: { readonly cost: () => Promise<Cost>; readonly idle: Cost; readonly count: number },
  write: () => Promise<void>,
): Promise<Cost> {
  const before = await cost();
  const startedMs = performance.now();
  await write();
  // What idle processes ask has a separate limit. On a slow machine it would hide what a write costs.
  const seconds = (count * (performance.now() - startedMs)) / 1_000;
  return minus(await cost(), plus(before, idle, seconds), writes);
}

/** Returns the mean of the rounds. */
function meanOf(costs: readonly Cost[]): Cost {
  const none: Cost = { commands: 0, calls: 0, cpuMs: 0 };
  return minus(
    costs.reduce((sum, cost) => plus(sum, cost, 1), none),
    none,
    costs.length,
  );
}

function minus(after: Cost, before: Cost, by: number): Cost {
  return {
    commands: (after.commands - before.commands) / by,
    calls: (after.calls - before.calls) / by,
    cpuMs: (after.cpuMs - before.cpuMs) / by,
  };
}

function plus(cost: Cost, aSecond: Cost, seconds: number): Cost {
  return {
    commands: cost.commands + aSecond.commands * seconds,
    calls: cost.calls + aSecond.calls * seconds,
    cpuMs: cost.cpuMs + aSecond.cpuMs * seconds,
  };
}

function inWords({ commands, calls, cpuMs }: Cost): string {
  return `${commands.toFixed(1)} commands, ${calls.toFixed(1)} calls, ${cpuMs.toFixed(1)} ms of CPU`;
}

mongoDbSuite(test, 'The cost of many processes is measured', () => {
  test('A write costs as much with many processes as with one, and idle processes ask little', async (t) => {
    t.timeout(1_800_000);
    // Given one process, and several that know each other
    const worlds = [];
    for (const count of counts) worlds.push({ count, ...(await givenProcesses(t, count)) });
    // Processes learn of each other within seconds, and save the checkpoints of unchanged views within ten.
    await wait(15_000);
    // When nothing happens
    const idles = await Promise.all(
      worlds.map(async ({ count, cost, byName }) => {
        const before = await cost();
        const startedMs = performance.now();
        await wait(idleSeconds * 1_000);
        const after = await cost();
        // A busy machine may wait longer than it is asked to, so the time is measured.
        const seconds = (performance.now() - startedMs) / 1_000;
        const idle = minus(after, before, seconds * count);
        t.log(`${count} idle: ${inWords(idle)} a process and second; ${byName()}`);
        return idle;
      }),
    );
    // Then an idle process asks the servers little
    for (const { commands, calls } of idles) {
      t.true(commands <= 2 + boundary, `${commands} commands a second`);
      t.true(calls <= 1 + boundary, `${calls} calls a second`);
    }

    // When clients write, in turns because other work on the machine makes each write cost more
    const renames = await Promise.all(worlds.map(({ services }) => givenProjects(services)));
    const measured = worlds.map((world, index) => ({
      ...world,
      idle: idles[index] ?? { commands: 0, calls: 0, cpuMs: 0 },
      rename: renames[index] ?? (() => Promise.reject(new Error('there are no projects'))),
    }));
    const [alone, eight] = [measured.at(0), measured.at(-1)];
    if (alone === undefined || eight === undefined) return t.fail();
    // Commands and calls do not depend on how often the code has run.
    const few = [];
    for (const world of measured.slice(1, -1))
      few.push(await costOfWrites(world, () => world.rename(writes)));
    // CPU time is compared only between processes that serve all writes, so these are warm enough when they alone are.
    if (isWhole) {
      for (const { count, rename } of [alone, eight]) await rename(warmingWrites * count);
    } else {
      for (const { services, rename } of [alone, eight]) await rename(warmingWrites, services.slice(0, 1));
    }
    const [one, spread, throughOne]: [Cost[], Cost[], Cost[]] = [[], [], []];
    for (let round = 0; round < rounds; round += 1) {
      one.push(await costOfWrites(alone, () => alone.rename(writes)));
      spread.push(await costOfWrites(eight, () => eight.rename(writes)));
      throughOne.push(await costOfWrites(eight, () => eight.rename(writes, eight.services.slice(0, 1))));
    }
    if (few.length > 0) t.log(`spread over two, four: ${few.map(inWords).join('; ')} a write`);
    t.log(`one process: ${one.map(inWords).join('; ')} a write`);
    t.log(`spread over eight: ${spread.map(inWords).join('; ')} a write`);
    t.log(`through one of eight: ${throughOne.map(inWords).join('; ')} a write`);

    // Then the servers are asked as much as by one process, and processes that serve nothing take no CPU for the writes
    const limit = meanOf(one);
    for (const { commands, calls } of [...few, meanOf(spread), meanOf(throughOne)]) {
      // A process knows without a read what it wrote itself. What others wrote the projector reads, with one command a write at most.
      t.true(commands - 1 <= 1.15 * limit.commands, `${commands} and ${limit.commands} commands a write`);
      t.true(calls <= 1.3 * limit.calls, `${calls} and ${limit.calls} calls a write`);
    }
    const { cpuMs } = meanOf(throughOne);
    t.true(cpuMs <= 1.3 * limit.cpuMs, `${cpuMs} and ${limit.cpuMs} ms of CPU a write`);
  });
});
