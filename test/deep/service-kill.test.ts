import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Random } from '../../src/kit/time/clock.js';
import { eventually } from '../support/eventually.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { asObject, makeServiceClient, type ServiceClient } from '../support/clients/service-client.js';
import {
  findLost,
  findLostNodes,
  type Ledger,
  makeLedger,
  settle,
  untilAnswered,
} from '../support/servers/service-ledger.js';
import { inspectDisk } from '../support/servers/service-log-and-disk.js';
import { makeLoad } from '../support/servers/service-load.js';
import {
  withoutLimits,
  givenService,
  givenDirectory,
  freePort,
  type ServiceProcess,
  spawnService,
} from '../support/servers/service-process.js';

const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);

const agentSecret = 'the-agents-secret';
/**
 * The kills of one data directory. Larger budgets use more directories, because access tokens live ten minutes; a slow
 * machine stops earlier.
 */
const killsPerDirectory = 40;
const killingMsMax = 6 * 60_000;
const directories = Math.ceil(4 * budget);
/** While the service of one directory starts, that of another one is under load. */
const lanes = 2;

test('A kill -9 at random moments loses no acknowledged resource, and leaves none half written or duplicated', async (t) => {
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
  const directory = givenDirectory(t);
  const start = {
    directory,
    port: await freePort(),
    environment: {
      NODE_AGENT_SECRET: agentSecret,
      ...withoutLimits(t),
      // One user sends the whole load, and reads all resources at once.
      MAX_REQUESTS: '10000',
      LOG_LEVEL: 'warn',
    },
  };
  const client = makeServiceClient(`http://127.0.0.1:${start.port}`);
  const ledger = makeLedger();
  let service = await givenService(t, start);
  const owner = await client.register('ada@example.org', 'Correct-Horse-7');
  const name = `s${campaignSeed}`;
  const load = makeLoad({ client, directory, owner, ledger, random, name });
  const startsMs: number[] = [];

  const beganMs = performance.now();
  let kills = 0;
  for (; kills < killsPerDirectory && performance.now() - beganMs < killingMsMax; kills += 1) {
    // When the process is killed under load, sometimes also during its next start
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
    service = await givenService(t, start);
    startsMs.push(performance.now() - startedMs);
    // Then all resources that were acknowledged since the last start, and some older ones, are there
    const older = ledger.acknowledged.slice(0, seen).filter(() => random() < 40 / (seen + 1));
    t.deepEqual(await findLost(client, [...ledger.acknowledged.slice(seen), ...older]), []);
    await repeatUnanswered(client, ledger, false);
  }

  // Every acknowledged resource is there, and a repeated request without an answer creates its resource once
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
  t.deepEqual((await inspectDisk(directory)).problems, []);
  const mean = startsMs.reduce((sum, ms) => sum + ms, 0) / startsMs.length;
  t.log(
    `seed ${campaignSeed}: ${kills} kills, ${ledger.acknowledged.length} acknowledged, ${ledger.nodes.size} nodes, ${repeated} repeated` +
      ` at last, a start took ${Math.round(mean)} ms`,
  );
}

/**
 * Waits until the ledger has this many acknowledgements. Counting them makes the load at the kill independent of the
 * machine.
 */
function reached(ledger: Ledger, acknowledged: number): Promise<true> {
  const isReached = (): boolean => ledger.acknowledged.length >= acknowledged;
  return eventually(`${acknowledged} acknowledgements`, isReached, { pollMs: 2, polls: 60_000 });
}

async function killDuringStart(start: Parameters<typeof spawnService>[0], random: Random): Promise<void> {
  const service: ServiceProcess = spawnService(start);
  await sleep(random() * 900);
  await service.kill();
}

/** Repeats the unanswered requests. @returns the number that are acknowledged now */
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
