import { cpSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { allViews } from '../../projections/index.js';
import { catchUpInThreads, groupTargets } from '../../src/composition/tasks/catch-up.js';
import { buildViews } from '../../src/operating/replay/replay.js';
import type { LogEvent, Position } from '../../src/event-sourcing/ports/domain-event.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { makeGenerations } from '../../src/event-sourcing/views/generations/generations.js';
import { isTally } from '../../src/event-sourcing/views/projection.js';
import { quarantinedItems } from '../../src/event-sourcing/feeding/quarantine.js';
import { indexValues } from '../../src/stores/embedded/documents/index-values.js';
import { usersProjection } from '../../projections/accounts/users/projection.js';
import { openLogReader } from '../../src/stores/embedded/log/category-reader.js';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import { makeMemoryReadModelStore } from '../support/fakes/memory-read-model-store.js';
import { fillMixedLog } from '../support/given/mixed-log.js';
import { givenDirectory, makeDirectory, openStores } from '../support/servers/embedded-directory.js';
import { storedDocuments } from '../support/kernel/world.js';
import { loadCheckpoint, makeSaveCheckpoint } from '../../src/event-sourcing/ports/records.js';
import { metadataOf } from '../support/examples/metadata.js';

const users = `${usersProjection.name}@${usersProjection.version}.1`;

const events = 1_500;
const streamPrefix = 'stowage.';
const unreadable = 'project-019b7d00-0000-7000-8000-000000000000';
const noSignal = new AbortController().signal;

const template = makeDirectory();

/** A log of all views, one stream of which has an event that this release does not know. */
test.before(async () => {
  const stores = await openStores(template.directory, { streamPrefix });
  await fillMixedLog(stores.eventStore, events);
  await stores.eventStore.append(unreadable, 'no-stream', [
    {
      id: '019b7d00-0000-7000-8000-000000000001',
      type: 'ProjectPainted',
      data: {},
      metadata: metadataOf('c'),
    },
  ]);
  await stores.close();
});

test.after.always(() => template.remove());

/** Given stores with a copy of the log. */
async function givenLog(t: ExecutionContext) {
  const directory = givenDirectory(t);
  cpSync(template.directory, directory, { recursive: true });
  const stores = await openStores(directory, { streamPrefix });
  t.teardown(() => stores.close());
  const generations = makeGenerations({
    projections: allViews,
    readModelStore: stores.readModelStore,
    clock: realClock,
  });
  await generations.start();
  return { ...stores, directory, generations, streamPrefix };
}

type Scene = Awaited<ReturnType<typeof givenLog>>;

async function feed(
  scene: Scene,
  { signal = noSignal, behindMin = 500 }: { readonly signal?: AbortSignal; readonly behindMin?: number } = {},
): Promise<{ readonly failed: readonly string[]; readonly quarantined: readonly string[] }> {
  const [failed, quarantined]: [string[], string[]] = [[], []];
  await catchUpInThreads(scene, {
    ...{ signal, behindMin },
    onFailed: (reason) => failed.push(reason),
    onQuarantined: (collection, { id }) => quarantined.push(`${collection}/${id}`),
  });
  return { failed, quarantined };
}

/** Returns the documents of all views. The revision of a total counts its writes, so it is left out. */
async function documentsOf(store: ReadModelStore): Promise<Record<string, unknown>> {
  const documents: Record<string, unknown> = {};
  for (const view of allViews) {
    const collection = `${view.name}@${view.version}.1`;
    const stored = await storedDocuments(store, collection);
    documents[collection] = isTally(view) ? stored.map(({ id, body }) => ({ id, body })) : stored;
    for (const field of view.indexes) {
      const values = new Set(stored.slice(0, 20).flatMap(({ body }) => [...indexValues(body, field)]));
      for (const equals of values) {
        const ids = await store.ids(collection, { where: { field, equals }, limit: 10_000 });
        documents[`${collection} ${field} ${equals}`] = ids;
      }
    }
  }
  return documents;
}

test('Threads write the documents, index entries and checkpoints that projectors write', async (t) => {
  const scene = await givenLog(t);
  const projected = makeMemoryReadModelStore();
  const random = makeSeededRandom(1);
  await buildViews({ ...scene, readModelStore: projected, clock: realClock, random }, () => undefined);

  let refreshes = 0;
  const generations = {
    ...scene.generations,
    refresh: () => {
      refreshes += 1;
      return scene.generations.refresh();
    },
  };
  const { failed, quarantined } = await feed({ ...scene, generations });

  t.deepEqual(failed, []);
  t.is(refreshes, 1, 'the registry is read again');
  t.deepEqual(quarantined, [`projects@5.1/${unreadable.slice('project-'.length)}`]);
  t.deepEqual(await documentsOf(scene.readModelStore), await documentsOf(projected));
  for (const view of allViews) {
    const collection = `${view.name}@${view.version}.1`;
    t.deepEqual(
      await loadCheckpoint(scene.readModelStore, collection),
      await loadCheckpoint(projected, collection),
      collection,
    );
    t.is((await quarantinedItems(scene.readModelStore, collection)).length, view.name === 'projects' ? 1 : 0);
  }
});

test('What the process has read before the threads ended is read again', async (t) => {
  const scene = await givenLog(t);
  const { readModelStore } = scene;
  // Given an operator who looks at an account while the threads catch up
  const { events: all } = await scene.eventStore.readAll({ after: null, limit: 10_000 });
  const id = all.find(({ stream }) => stream.startsWith('user-'))?.stream.slice('user-'.length) ?? '';
  t.is(await readModelStore.get(users, id), null);
  const token = readModelStore.changeToken(users);
  t.deepEqual((await feed(scene)).failed, []);
  const stored = (await storedDocuments(readModelStore, users)).find((document) => document.id === id);
  t.truthy(stored);
  t.deepEqual(await readModelStore.get(users, id), stored ?? null);
  t.not(readModelStore.changeToken(users), token);
});

test('Threads do not run for views that are close to the head of the log', async (t) => {
  const scene = await givenLog(t);
  await feed(scene, { behindMin: 20_000 });
  t.is(await loadCheckpoint(scene.readModelStore, users), null);
});

test('An abort ends the threads, and a later pass goes on', async (t) => {
  const scene = await givenLog(t);
  t.deepEqual((await feed(scene, { signal: AbortSignal.abort() })).failed, []);
  t.is(await loadCheckpoint(scene.readModelStore, users), null);
  // A later pass begins where the first one ended
  t.deepEqual((await feed(scene)).failed, []);
  t.not(await loadCheckpoint(scene.readModelStore, users), null);
});

test('An abort while the threads start ends them before they feed', async (t) => {
  const scene = await givenLog(t);
  const controller = new AbortController();
  const { readModelStore } = scene;
  const getMany: ReadModelStore['getMany'] = async (collection, ids) => {
    const found = await readModelStore.getMany(collection, ids);
    // By then the threads are made, and have not run yet.
    setImmediate(() => controller.abort());
    return found;
  };
  await feed({ ...scene, readModelStore: { ...readModelStore, getMany } }, controller);
  t.is(await loadCheckpoint(readModelStore, users), null);
});

test('A thread that finds a damaged log reports each of its groups, and feeds the others', async (t) => {
  const scene = await givenLog(t);
  // Given checkpoints of another log in all categories but one. There are more of them than threads.
  const damaged = allViews.filter(({ category }) => category !== 'share');
  const other = { logId: 'another', position: '0000000000000001' };
  for (const view of damaged)
    await makeSaveCheckpoint(scene.readModelStore, `${view.name}@${view.version}.1`)(other);
  const { failed } = await feed(scene);
  t.is(failed.length, new Set(damaged.map(({ category }) => category)).size);
  for (const reason of failed) t.regex(reason, /^the view \S+ has followed the log another/);
  const logId = await scene.eventStore.logId();
  for (const view of allViews.filter(({ category }) => category === 'share')) {
    const checkpoint = await loadCheckpoint(scene.readModelStore, `${view.name}@${view.version}.1`);
    t.is(checkpoint?.logId, logId, view.name);
  }
});

test('The pages of a category hold exactly its events, and the last of them ends at the head of the log', async (t) => {
  const { directory, eventStore } = await givenLog(t);
  const log = openLogReader({ directory, streamPrefix });
  t.teardown(log.close);
  const { events: all } = await eventStore.readAll({ after: null, limit: 10_000 });
  for (const category of ['user', 'share', 'peernode']) {
    const ofIt = all.filter(({ stream }) => stream.startsWith(`${category}-`));
    t.is(log.count(category), ofIt.length, category);
    const read = log.ofCategory(category);
    const events: LogEvent[] = [];
    for (let after: Position | null = null, atHead = false; !atHead;) {
      const page = await read({ after, limit: 7 });
      events.push(...page.events);
      t.is(page.last?.position, page.cursor ?? undefined);
      [after, atHead] = [page.cursor, page.atHead];
      if (atHead) t.is(after, await eventStore.head());
    }
    t.deepEqual(events, ofIt, category);
    const [third] = events.slice(2);
    if (third === undefined) continue;
    const { events: later } = await log.ofCategory(category)({ after: third.position, limit: 2 });
    t.deepEqual(later, ofIt.slice(3, 5), category);
  }
});

test('Threads take the costliest category first, with all of its views', (t) => {
  const targets = allViews.map((projection) => ({ projection, collection: projection.name }));
  const counts: Record<string, number> = { session: 300, asset: 130 };
  const groups = groupTargets(targets, (category) => counts[category] ?? 10);
  t.deepEqual(
    groups
      .flatMap(({ targets: group }) => group)
      .map(({ collection }) => collection)
      .sort(),
    allViews.map(({ name }) => name).sort(),
  );
  for (const { category, targets: group } of groups)
    t.true(group.every(({ projection }) => projection.category === category));
  const categories = groups.map(({ category }) => category);
  t.deepEqual(categories.slice(0, 2), ['asset', 'session']);
  t.is(new Set(categories).size, categories.length);
});
