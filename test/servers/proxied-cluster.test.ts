import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { asObject, makeServiceClient, type SignedIn, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { startCluster } from '../support/servers/eventstoredb-server/cluster.js';
import {
  withoutLimits,
  givenDirectory,
  keyEnvironment,
  freePort,
  type ServiceProcess,
  startService,
} from '../support/servers/service-process.js';
import { testCertificate, testKey } from '../support/servers/eventstoredb-server/tls.js';
import { makeTestDatabase, mongoDbUrl } from '../support/servers/store-servers.js';

/** DEEP_BUDGET=1 runs 30 rounds. */
const rounds = Math.max(5, Math.round(30 * Number(process.env['DEEP_BUDGET'] ?? 0.1)));
const lacks =
  mongoDbUrl === undefined
    ? 'MONGODB_URL'
    : spawnSync('which', ['haproxy']).status === 0
      ? undefined
      : 'haproxy';
const run = lacks === undefined ? test.serial : test.serial.skip;
if (lacks !== undefined) console.log(`NOT RUN: two processes behind HAProxy on a cluster: it needs ${lacks}`);

run(
  'Behind HAProxy as shipped, no fault of the cluster or of a process loses a change, fails a read or ends a session',
  async (t) => {
    t.timeout(30 * 60_000);
    // Given a cluster of two nodes over TLS, one named by a name and one by an address
    const hosts = ['localhost', '127.0.0.1'];
    const cluster = await startCluster({ hosts, tls: { certificate: testCertificate, key: testKey } });
    t.teardown(cluster.close);
    // and two processes behind the proxy with the configuration of deploy/cluster
    const { url: database } = await makeTestDatabase(t);
    const seeds = cluster.nodes.map(({ port }, n) => `${hosts[n]}:${port}`).join(',');
    const folder = givenDirectory(t);
    const authority = join(folder, 'authority.pem');
    await writeFile(authority, testCertificate);
    const environment = {
      ...keyEnvironment,
      EVENTSTOREDB_URL: `esdb://admin:changeit@${seeds}?tls=true&tlsCAFile=${authority}&discoveryInterval=100`,
      MONGODB_URL: database,
      PUBLIC_URL: 'https://stowage.example.com',
      TRUSTED_PROXIES: '127.0.0.1',
      ...withoutLimits(t),
      LOG_LEVEL: 'error',
    };
    const starts = await Promise.all(
      [1, 2].map(async (n) => ({
        directory: join(folder, `data-${n}`),
        port: await freePort(),
        environment,
      })),
    );
    const services: ServiceProcess[] = await Promise.all(starts.map((start) => startService(start)));
    t.teardown(() => Promise.all(services.map((service) => service.kill())));
    const port = await freePort();
    const shipped = readFileSync(new URL('../../../deploy/cluster/haproxy.cfg', import.meta.url), 'utf8');
    const configuration = starts.reduce(
      (text, start, n) => text.replace(`stowage${n + 1}:8080`, `127.0.0.1:${start.port}`),
      shipped.replace('bind :8080', `bind 127.0.0.1:${port}`),
    );
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, configuration);
    const proxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
    t.teardown(() => proxy.kill());
    const client = makeServiceClient(`http://127.0.0.1:${port}`);
    await eventually(
      'the proxy serves',
      async () => (await client.get('/readyz').catch(() => null))?.status === 200,
    );
    // and users who write with keys, read and refresh without an end
    const owner = await client.register('ada@example.org', 'Correct-Horse-7');
    const writers = await Promise.all(
      ['bob', 'eve'].map((name) => client.register(`${name}@example.org`, 'Correct-Horse-7')),
    );
    const project = await client.makeProject(owner.headers);
    const [acknowledged, problems] = [new Map<string, string>(), [] as string[]];
    let { headers, refreshToken } = owner;
    let [isOver, reads, refreshes] = [false, 0, 0];
    const write = async (writer: SignedIn, of: string): Promise<void> => {
      // An owner has at most a hundred projects.
      for (let n = 0; !isOver && n < 99; n += 1) {
        const name = `${of}-${n}`;
        const options = { ...writer.headers, 'idempotency-key': name };
        for (let attempt = 0; ; attempt += 1) {
          const reply = await client.post('/api/v1/projects', { name }, options).catch(() => null);
          if (reply?.status === 201) {
            acknowledged.set(name, textOf(reply.json(), 'id'));
            break;
          }
          if (reply !== null && reply.status !== 503 && reply.status !== 502)
            problems.push(`${name}: ${reply.status} ${reply.text}`);
          if (attempt > 600) throw new Error(`${name} was never acknowledged: ${reply?.text ?? ''}`);
          await wait(100);
        }
        await wait(2_000);
      }
    };
    const read = async (): Promise<void> => {
      for (; !isOver; reads += 1) {
        const reply = await client.get(`/api/v1/projects/${project}`, headers).catch(String);
        if (typeof reply === 'string' || reply.status !== 200)
          problems.push(`a read: ${typeof reply === 'string' ? reply : `${reply.status} ${reply.text}`}`);
        await wait(50);
      }
    };
    const refresh = async (): Promise<void> => {
      for (; !isOver; refreshes += 1) {
        const reply = await client
          .post('/api/v1/auth/refresh', { refresh_token: refreshToken })
          .catch(() => null);
        if (reply?.status === 200) {
          const tokens = asObject(asObject(reply.json()['data'])['tokens']);
          refreshToken = textOf(tokens, 'refresh_token');
          headers = { ...headers, authorization: `Bearer ${textOf(tokens, 'access_token')}` };
        } else if (reply !== null && reply.status !== 503 && reply.status !== 502)
          problems.push(`a refresh: ${reply.status} ${reply.text}`);
        await wait(500);
      }
    };
    const clients = [...writers.map((writer, n) => write(writer, `writer-${n}`)), read(), refresh()];

    // When the cluster and the processes fail in each way
    const elect = (): void => {
      const before = cluster.leader();
      cluster.elect();
      before.network.cut();
    };
    const faults: Record<string, (round: number) => Promise<void>> = {
      'an election': async () => {
        elect();
        await wait(1_500);
      },
      'a silent leader': async () => {
        const silent = cluster.leader();
        silent.network.freeze();
        await wait(2_000);
        cluster.elect();
        await wait(6_000);
        silent.network.thaw();
      },
      'an append that is in the log after its time-out': async () => {
        cluster.leader().faults.next('append', { answer: 'nothing' });
        await wait(6_000);
      },
      'an append that an election truncates': async () => {
        cluster.leader().faults.next('append', { apply: 'never', answer: 'nothing' });
        await wait(1_000);
        elect();
        await wait(5_000);
      },
      'a process that is killed': async (round) => {
        const n = round % 2;
        await services[n]?.kill();
        await wait(3_000);
        const [start] = starts.slice(n);
        if (start !== undefined) services[n] = await startService(start);
        await wait(3_000);
      },
      'a process that is stopped': async (round) => {
        const n = round % 2;
        await services[n]?.stop();
        const [start] = starts.slice(n);
        if (start !== undefined) services[n] = await startService(start);
        await wait(3_000);
      },
    };
    const kinds = Object.entries(faults);
    for (let round = 0; round < rounds; round += 1) {
      const [kind, fail] = kinds[round % kinds.length] ?? [];
      t.log(`${round}: ${kind ?? ''}, ${acknowledged.size} acknowledged, ${problems.length} problems`);
      await fail?.(round);
    }
    isOver = true;
    await Promise.all(clients);

    // Then every acknowledged project is there once, reads never failed, and the session goes on
    t.deepEqual(problems, []);
    t.true(reads > rounds && refreshes > rounds && acknowledged.size > rounds);
    const made = new Map<string, string>();
    for (const writer of writers) {
      const { items } = (await client.get('/api/v1/projects?limit=200', writer.headers)).json();
      for (const item of (items as unknown[]).map(asObject)) {
        t.false(made.has(textOf(item, 'name')), textOf(item, 'name'));
        made.set(textOf(item, 'name'), textOf(item, 'id'));
      }
    }
    t.deepEqual([...made].toSorted(), [...acknowledged].toSorted());
  },
);
