import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { keyEnvironment } from '../support/examples/service-keys.js';
import { makeCountingProxy } from '../support/servers/counting-proxy.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { makeTestDatabase, mongoDbUrl } from '../support/servers/mongodb-server.js';
import {
  freePort,
  makeDataDirectory,
  type ServiceProcess,
  startService,
} from '../support/servers/service-process.js';

const writes = 400;
/** Code that has run a few times only costs twice the CPU time, so each process first serves some requests. */
const warmingWrites = 100;
const writersPerRun = 8;
const idleSeconds = 20;
/** A window of whole seconds can hold one more poll of each process than it has seconds. */
const boundary = 1.5 / idleSeconds;
/** The server's ticks of CPU time a second (`getconf CLK_TCK` on Linux). */
const ticksPerSecond = 100;

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
  const limits = await makeDataDirectory();
  t.teardown(() => limits.remove());
  const limitsFile = join(limits.path, 'limits.json');
  await writeFile(
    limitsFile,
    JSON.stringify({ session: { limit: 100_000, seconds: 60 }, user: { limit: 100_000, seconds: 60 } }),
  );
  const environment = {
    ...keyEnvironment,
    EVENTSTOREDB_URL: log.url,
    EVENTSTOREDB_ALLOW_INSECURE: 'true',
    MONGODB_URL: `mongodb://127.0.0.1:${proxy.port}/${name}?directConnection=true`,
    PUBLIC_URL: 'https://stowage.example.com',
    LOG_LEVEL: 'error',
    LIMITS_FILE: limitsFile,
  };
  const services: ServiceProcess[] = [];
  for (let index = 0; index < count; index += 1) {
    const directory = await makeDataDirectory();
    t.teardown(() => directory.remove());
    const service = await startService({ directory: directory.path, port: await freePort(), environment });
    t.teardown(() => service.kill());
    services.push(service);
  }
  // Processes learn of each other within seconds, and save the checkpoints of unchanged views within ten.
  await wait(15_000);
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

/** Reads the CPU time of a process: fields 14 and 15 of `/proc/<pid>/stat` (proc(5)). */
async function cpuMsOf({ pid }: ServiceProcess): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000;
}

/** Makes projects. @returns the function that renames them through all processes in turn, and waits for the views */
async function givenProjects(services: readonly ServiceProcess[]): Promise<(count: number) => Promise<void>> {
  const clients = services.map(({ url }) => makeServiceClient(url));
  const [first] = clients;
  if (first === undefined) throw new Error('there is no process');
  const owner = await first.register('ada@example.org', 'Correct-Horse-7');
  const projects: string[] = [];
  for (let index = 0; index < writersPerRun; index += 1) {
    const reply = await first.post('/api/v1/projects', { name: `p${index}` }, owner.headers);
    projects.push(textOf(reply.json(), 'id'));
  }
  return async (count) => {
    await Promise.all(
      projects.map(async (id, writer) => {
        for (let index = 0; index < count / writersPerRun; index += 1) {
          const client = clients[(writer + index) % clients.length] ?? first;
          const reply = await client.send(`/api/v1/projects/${id}`, {
            method: 'PATCH',
            headers: { ...owner.headers, 'content-type': 'application/json' },
            body: JSON.stringify({ name: `p${writer}-${index}` }),
          });
          if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${reply.text}`);
        }
      }),
    );
    await wait(3_000);
  };
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

if (mongoDbUrl === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('The cost of many processes is measured when MONGODB_URL names a server', () => undefined);
} else {
  test('A write costs as much with eight processes as with one, and idle processes ask little', async (t) => {
    t.timeout(600_000);
    const idles: Cost[] = [];
    const perWrite = new Map<number, Cost>();
    for (const count of [1, 8]) {
      // Given processes that know each other
      const { services, cost, byName } = await givenProcesses(t, count);
      // When nothing happens
      const beforeIdle = await cost();
      const startedMs = performance.now();
      await wait(idleSeconds * 1_000);
      const afterIdle = await cost();
      // A busy machine may wait longer than it is asked to, so the time is measured.
      const seconds = (performance.now() - startedMs) / 1_000;
      const idle = minus(afterIdle, beforeIdle, seconds * count);
      t.log(`${count} idle: ${inWords(idle)} a process and second; ${byName()}`);
      idles.push(idle);
      // When clients write
      const rename = await givenProjects(services);
      await rename(warmingWrites * count);
      const beforeWrites = await cost();
      const writingMs = performance.now();
      await rename(writes);
      // What idle processes ask has a separate limit. On a slow machine it would hide what a write costs.
      const idleSoFar = (count * (performance.now() - writingMs)) / 1_000;
      perWrite.set(count, minus(await cost(), plus(beforeWrites, idle, idleSoFar), writes));
      t.log(`${count} writing: ${inWords(perWrite.get(count) ?? idle)} a write; ${byName()}`);
      await Promise.all(services.map((service) => service.stop()));
    }
    // Then an idle process asks the servers little, and a write costs as much as with one process
    for (const { commands, calls } of idles) {
      t.true(commands <= 2 + boundary, `${commands} commands a second`);
      t.true(calls <= 1 + boundary, `${calls} calls a second`);
    }
    const one = perWrite.get(1);
    const eight = perWrite.get(8);
    if (one === undefined || eight === undefined) return t.fail();
    t.true(eight.commands <= 1.3 * one.commands, `${eight.commands} and ${one.commands} commands a write`);
    t.true(eight.calls <= 1.3 * one.calls, `${eight.calls} and ${one.calls} calls a write`);
  });
}
