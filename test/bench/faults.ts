import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { v4 } from 'uuid';
import { scrubOnce } from '../../src/stores/embedded/documents/start-scrub.js';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { keyEnvironment } from '../support/servers/service-process.js';
import { appendAssets } from '../support/given/append-assets.js';
import { viewsAtHead } from '../support/given/backups.js';
import { makeDirectory } from '../support/servers/embedded-directory.js';
import { startCluster } from '../support/servers/eventstoredb-server/cluster.js';
import { freezeUnderWriters, frozenDiskLacks } from '../support/servers/frozen-disk.js';
import { unlimitedRates } from '../support/servers/overload.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';
import { type Comparison, describe, median } from './measure.js';

const freezes = 5;
const documents = 100_000;
const silences = 5;
/** Times in ms, and documents a second. */
const goals = { health: 1_000, reads: 2_000, writes: 5_000, documents: 10_000, silence: 6_000 };

/** Measures what falling stores cost: a frozen disk, the check of read models after a start, and a leader that falls silent. */
export async function benchFaults(): Promise<readonly Comparison[]> {
  return [...(await frozenDisk()), await checkOfReadModels(), ...(await silentLeader())];
}

async function frozenDisk(): Promise<readonly Comparison[]> {
  if (frozenDiskLacks !== undefined) {
    process.stdout.write(`SKIPPED the rows on a frozen disk: they need ${frozenDiskLacks}\n`);
    return [];
  }
  const { longest } = await freezeUnderWriters(freezes);
  return (['health', 'reads', 'writes'] as const).map((kind) =>
    timeOf(`the longest answer on a frozen disk: ${kind}`, longest[kind], goals[kind]),
  );
}

/** Checks the read models of a project with many assets, while nothing else runs. */
async function checkOfReadModels(): Promise<Comparison> {
  const { directory, remove } = makeDirectory();
  const ending = new AbortController();
  // The check keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  try {
    const service = await startInProcess({ directory });
    await appendAssets(service.services.eventStore, {
      ...{ from: 0, until: documents, project: v4(), storageId: v4() },
    });
    await viewsAtHead(service);
    await service.close();
    const began = performance.now();
    const failure = await scrubOnce(join(directory, 'read-models.db'), ending.signal);
    if (failure !== null) throw new Error(`the check ended early: ${failure.kind}`);
    const ours = documents / ((performance.now() - began) / 1_000);
    return printed({
      ...{ what: 'the check of read models after a start', anchor: 'the goal', unit: 'documents/s', ours },
      ...{ anchors: goals.documents, ratio: ours / goals.documents, goal: { atLeast: 1 } },
    });
  } finally {
    clearInterval(alive);
    remove();
  }
}

/** Asks a service on a cluster of three for writes and reads, while its leader falls silent and the others elect another one at once. */
async function silentLeader(): Promise<readonly Comparison[]> {
  const cluster = await startCluster({ hosts: ['127.0.0.1', '127.0.0.1', '127.0.0.1'] });
  const data = await makeDataDirectory();
  const limitsFile = join(data.path, 'limits.json');
  await writeFile(limitsFile, JSON.stringify(unlimitedRates));
  const service = await startService({
    directory: data.path,
    port: await freePort(),
    environment: {
      ...{ ...keyEnvironment, EVENTSTOREDB_URL: cluster.url(), EVENTSTOREDB_ALLOW_INSECURE: 'true' },
      ...{ LIMITS_FILE: limitsFile, LOG_LEVEL: 'silent' },
    },
  });
  try {
    const client = makeServiceClient(service.url);
    const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
    const made = await client.post('/api/v1/projects', { name: 'Film' }, headers);
    const path = `/api/v1/projects/${textOf(made.json(), 'id')}`;
    const write = async (): Promise<boolean> => {
      const reply = await client.send(path, {
        method: 'PATCH',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: v4() }),
      });
      return reply.status === 200;
    };
    const [away, reads]: [number[], number[]] = [[], []];
    for (let n = 0; n < silences; n += 1) {
      if (!(await write())) throw new Error('a write failed on a healthy cluster');
      const silent = cluster.leader();
      silent.network.freeze();
      cluster.elect();
      const began = performance.now();
      const writes = { areAway: true };
      const writing = (async () => {
        while (!(await write())) await wait(20);
        away.push(performance.now() - began);
        writes.areAway = false;
      })();
      while (writes.areAway) {
        const asked = performance.now();
        const { status } = await client.get(path, headers);
        if (status !== 200) throw new Error(`a read beside a silent leader was answered ${status}`);
        reads.push(performance.now() - asked);
        await wait(20);
      }
      await writing;
      silent.network.thaw();
    }
    return [
      timeOf('writes are away when the leader falls silent', Math.max(...away), goals.silence),
      timeOf('the median read meanwhile', median(reads), goals.reads),
    ];
  } finally {
    await service.stop();
    await cluster.close();
    await data.remove();
  }
}

function timeOf(what: string, ours: number, goal: number): Comparison {
  const ratio = ours / goal;
  return printed({
    ...{ what, anchor: 'the goal', unit: 'ms', ours, anchors: goal, ratio, goal: { atMost: 1 } },
  });
}

function printed(row: Comparison): Comparison {
  process.stdout.write(`${describe(row)}\n`);
  return row;
}
