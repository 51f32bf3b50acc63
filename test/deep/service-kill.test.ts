import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Random } from '../../src/event-sourcing/clock.js';
import { makeSeededRandom } from '../support/clock.js';
import { asObject, makeServiceClient, type ServiceClient } from '../support/service-client.js';
import {
  findLost,
  findLostNodes,
  type Ledger,
  makeLedger,
  settle,
  untilAnswered,
} from '../support/service-ledger.js';
import { inspectDisk } from '../support/service-disk.js';
import { makeLoad } from '../support/service-load.js';
import {
  freePort,
  makeDataDirectory,
  type ServiceProcess,
  spawnService,
  startService,
} from '../support/service-process.js';

const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);

const unlimited = { limit: 1_000_000, seconds: 1 };
const agentSecret = 'the-agents-secret';
/** Kills of one data directory; more of them are more directories, for access tokens last ten minutes: a slow machine stops before. */
const killsPerDirectory = 40;
const killingMsMax = 6 * 60_000;
const directories = Math.ceil(4 * budget);
/** Of one directory at a time the service starts while that of another is under load. */
const lanes = 2;

test('kill -9 at random moments: nothing acknowledged is lost, nothing is there by half or twice', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const left = Array.from({ length: directories }, (_, index) => seed + index);
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await campaign(t, next);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
});

async function campaign(t: ExecutionContext, campaignSeed: number): Promise<void> {
  const random = makeSeededRandom(campaignSeed);
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const limitsFile = join(directory.path, 'limits.json');
  await writeFile(limitsFile, JSON.stringify({ session: unlimited, register: unlimited }));
  const start = {
    directory: directory.path,
    port: await freePort(),
    environment: { NODE_AGENT_SECRET: agentSecret, LIMITS_FILE: limitsFile, LOG_LEVEL: 'warn' },
  };
  const client = makeServiceClient(`http://127.0.0.1:${start.port}`);
  const ledger = makeLedger();
  let service = await startService(start);
  t.teardown(() => service.kill());
  const owner = await client.register('ada@example.org', 'Correct-Horse-7');
  const name = `s${campaignSeed}`;
  const load = makeLoad({ client, directory: directory.path, owner, ledger, random, name });
  const startsMs: number[] = [];

  const beganMs = performance.now();
  let kills = 0;
  for (; kills < killsPerDirectory && performance.now() - beganMs < killingMsMax; kills += 1) {
    // When the process is killed under load, at times during its next start too
    const seen = ledger.acknowledged.length;
    const ended = load.run();
    await reached(ledger, seen + Math.floor(random() ** 2 * 60));
    await sleep(random() * 20);
    await service.kill();
    await ended;
    if (random() < 0.25) {
      await killDuringStart(start, random);
      kills += 1;
    }
    const startedMs = performance.now();
    service = await startService(start);
    startsMs.push(performance.now() - startedMs);
    // Then all that it had acknowledged since the last start, and some of what it had before, is there
    const older = ledger.acknowledged.slice(0, seen).filter(() => random() < 40 / (seen + 1));
    t.deepEqual(await findLost(client, [...ledger.acknowledged.slice(seen), ...older]), []);
    await repeatUnanswered(client, ledger, false);
  }

  // Everything that was ever acknowledged is there; what was cut off is there once when it is repeated
  t.deepEqual(await findLost(client, ledger.acknowledged), []);
  t.deepEqual(await findLostNodes(client, agentSecret, ledger.nodes), []);
  const repeated = await repeatUnanswered(client, ledger, true);
  t.deepEqual(await findLost(client, ledger.acknowledged), []);
  for (const id of load.projects) {
    const names = await namesOfStorages(client, id, owner.headers);
    t.is(new Set(names).size, names.length, `a storage of ${id} is there twice`);
  }
  t.is(await service.stop(), 0);
  // and on disk the read models are the fold of a log without gaps
  t.deepEqual((await inspectDisk(directory.path)).problems, []);
  const mean = startsMs.reduce((sum, ms) => sum + ms, 0) / startsMs.length;
  t.log(
    `seed ${campaignSeed}: ${kills} kills, ${ledger.acknowledged.length} acknowledged, ${ledger.nodes.size} nodes, ${repeated} repeated` +
      ` at last, a start took ${Math.round(mean)} ms`,
  );
}

/** Waits until so much is acknowledged; counted, not timed, so that a slow machine is as busy when it is killed. */
async function reached(ledger: Ledger, acknowledged: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (ledger.acknowledged.length < acknowledged && Date.now() < deadline) await sleep(2);
}

async function killDuringStart(start: Parameters<typeof spawnService>[0], random: Random): Promise<void> {
  const service: ServiceProcess = spawnService(start);
  await sleep(random() * 900);
  await service.kill();
}

/** @returns how many are acknowledged now */
async function repeatUnanswered(client: ServiceClient, ledger: Ledger, patient: boolean): Promise<number> {
  const waiting = ledger.unanswered.splice(0);
  await Promise.all(
    waiting.map(async (request) => {
      const settled = await settle(client, request, patient);
      if (settled === null) ledger.unanswered.push(request);
      else ledger.acknowledged.push(settled);
    }),
  );
  return waiting.length - ledger.unanswered.length;
}

async function namesOfStorages(
  client: ServiceClient,
  projectId: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly unknown[]> {
  const path = `/api/v1/projects/${projectId}/storages`;
  const { items } = (await untilAnswered(() => client.get(path, headers))).json();
  return Array.isArray(items) ? items.map((item) => asObject(item)['name']) : [];
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
