import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { allViews } from '../../projections/index.js';
import { projectsProjection } from '../../projections/projects/projects/projection.js';
import { catchUpInThreads } from '../../src/composition/tasks/catch-up.js';
import { systemClock, systemRandom } from '../../src/composition/system.js';
import { makeSoleLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import type { AnyView } from '../../src/event-sourcing/views/projection.js';
import { type Generations, makeGenerations } from '../../src/event-sourcing/views/generations/generations.js';
import {
  type ProjectionRunner,
  startProjections,
} from '../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { openEmbeddedStores } from '../../src/stores/embedded/open-embedded-stores.js';

// Runs one catch-up in a separate process, so that its memory can be measured:
// node catch-up-child.js <directory> ours|all|rebuild|bare

const [directory = '', mode = ''] = process.argv.slice(2);
const fail = (_collection: string, error: unknown): never => {
  throw error;
};

for (const name of [
  'read-models.db',
  'read-models.db-wal',
  'read-models.db-shm',
  'bare.db',
  'bare.db-wal',
  'bare.db-shm',
]) {
  rmSync(join(directory, name), { force: true });
}
const cpuBefore = process.cpuUsage();
const seconds =
  mode === 'bare' ? catchUpBare() : await catchUp(mode === 'ours' ? [projectsProjection] : allViews);
const { user, system } = process.cpuUsage(cpuBefore);
process.stdout.write(
  JSON.stringify({
    seconds,
    cpuSeconds: (user + system) / 1e6,
    rssMiB: process.resourceUsage().maxRSS / 1024,
  }),
);

/** Runs views from empty collections to the head of the log. With `rebuild`, it then times a rebuild of the projects. */
async function catchUp(views: readonly AnyView[]): Promise<number> {
  const clock = systemClock;
  const stores = await openEmbeddedStores({
    directory,
    streamPrefix: 'stowage.',
    clock,
    random: systemRandom,
    onFatal: (error) => fail('', error),
  });
  const generations = makeGenerations({
    projections: views,
    readModelStore: stores.readModelStore,
    clock,
  });
  await generations.start();
  const began = performance.now();
  await catchUpInThreads(
    { directory, streamPrefix: 'stowage.', ...stores, generations },
    {
      signal: new AbortController().signal,
      onFailed: (reason) => fail('', new Error(reason)),
      onQuarantined: (collection, { id }) => fail(collection, new Error(id)),
    },
  );
  const runner = await startProjections(
    { ...stores, generations, lease: makeSoleLease('bench'), clock, random: systemRandom },
    { onRetry: fail, onStopped: fail, onRebuilt: () => undefined },
  );
  while (!runner.live().statuses.every((status) => status.atHead)) await clock.sleep(5);
  const took = mode === 'rebuild' ? await rebuild(generations, runner) : (performance.now() - began) / 1000;
  await runner.stop();
  await stores.close();
  return took;
}

/** Times a new generation of a view up to the head of the log, beside the live one. The waits of a rebuild do not count. */
async function rebuild(generations: Generations, runner: ProjectionRunner): Promise<number> {
  const began = performance.now();
  await generations.change(projectsProjection, (record) => ({
    ...record,
    building: { generation: record.live + 1, announced_at: new Date().toISOString() },
  }));
  const building = generations.activeCollections(projectsProjection).at(-1);
  const isThere = (): boolean =>
    runner.statuses().some(({ collection, atHead }) => collection === building && atHead);
  while (!isThere()) await systemClock.sleep(5);
  return (performance.now() - began) / 1000;
}

/** Does the minimum: reads and parses the rows, upserts a document an event, with a transaction a page. */
function catchUpBare(): number {
  const log = new Database(join(directory, 'events.db'));
  const documents = new Database(join(directory, 'bare.db'));
  documents.pragma('journal_mode = WAL');
  documents.pragma('synchronous = NORMAL');
  documents.exec(
    'CREATE TABLE documents (id TEXT PRIMARY KEY, revision INTEGER NOT NULL, body TEXT NOT NULL)',
  );
  const page = log.prepare(
    'SELECT sequence, stream, revision, content FROM events WHERE sequence > ? ORDER BY sequence LIMIT 500',
  );
  const upsert = documents.prepare(
    'INSERT INTO documents (id, revision, body) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, body = excluded.body',
  );
  const began = performance.now();
  let after = 0;
  for (;;) {
    const rows = page.all(after) as { sequence: number; stream: string; revision: number; content: string }[];
    const last = rows.at(-1);
    if (last === undefined) break;
    documents.exec('BEGIN');
    for (const { stream, revision, content } of rows) {
      upsert.run(stream, revision, JSON.stringify(JSON.parse(content)));
    }
    documents.exec('COMMIT');
    after = last.sequence;
  }
  const took = (performance.now() - began) / 1000;
  log.close();
  documents.close();
  return took;
}
