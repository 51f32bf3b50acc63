import test from 'ava';
import { CommandRejected, OutcomeUnknown } from '../../src/event-sourcing/errors.js';
import type { StateStore } from '../../src/event-sourcing/state-store.js';
import { makeStoragePlaces } from '../../src/commands/storage-places.js';
import { otherProjectId, projectId, userId } from '../support/examples/ids.js';
import { memberId as idOf } from '../support/examples/project.js';
import { givenCommands } from '../support/given-commands.js';
import { givenContext, givenStores } from '../support/given-stores.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const request = {
  name: 'Media',
  provider: 's3',
  bucket: 'rivers-media',
  region: 'eu-central-1',
  credentials: { access_key: 'a', secret_key: 'b' },
} as const;

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (error) {
    return error instanceof CommandRejected ? String(error.code) : String(error);
  }
}

async function givenProject() {
  const stores = await givenStores();
  const commands = givenCommands(stores);
  const { resource } = await commands.createProject({ ownerId: userId, name: 'Rivers' }, givenContext(1, at));
  const grant = { projectId: resource.id, entitlement: 'allow_s3', source: 'operator' } as const;
  await commands.grantEntitlement(grant, givenContext(2, at));
  return { stores, ...commands, projectId: resource.id };
}

/** Places over a state store, and a view that shows what the test says. */
async function givenPlaces(wrap: (store: StateStore) => StateStore = (store) => store) {
  const stores = await givenStores();
  const shown: string[] = [];
  const places = makeStoragePlaces({
    ...stores,
    stateStore: wrap(stores.stateStore),
    storages: { ids: (_, limit) => Promise.resolve(shown.slice(0, limit)) },
  });
  return { ...stores, shown, take: (n: number) => outcomeOf(places.take(projectId, idOf(n))), places };
}

test('Of thirty storages that two processes create at once, twenty come to be', async (t) => {
  const { stores, createStorage, projectId: id, storages } = await givenProject();
  const other = givenCommands(stores.anotherProcess());
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, n) => {
      const create = n % 2 === 0 ? createStorage : other.createStorage;
      return outcomeOf(create({ ...request, projectId: id }, givenContext(100 + n, at)));
    }),
  );
  t.is(outcomes.filter((outcome) => outcome === 'done').length, 20);
  t.is(outcomes.filter((outcome) => outcome === 'storage_limit_reached').length, 10);
  t.is((await storages.ids(id, 50)).length, 20);
});

test('A deleted storage makes room at once', async (t) => {
  const { createStorage, deleteStorage, projectId: id } = await givenProject();
  const create = (n: number) => createStorage({ ...request, projectId: id }, givenContext(100 + n, at));
  for (let n = 1; n < 20; n += 1) await create(n);
  const { resource } = await create(20);
  t.is(await outcomeOf(create(21)), 'storage_limit_reached');
  await deleteStorage({ projectId: id, storageId: resource.id }, givenContext(200, at));
  t.is(await outcomeOf(create(22)), 'done');
  t.is(await outcomeOf(create(23)), 'storage_limit_reached');
});

test('A place that is taken counts before its storage is shown, once, and in its own project only', async (t) => {
  const { take, places, shown } = await givenPlaces();
  for (let n = 1; n <= 20; n += 1) t.is(await take(n), 'done');
  t.is(await take(21), 'storage_limit_reached');
  t.is(await take(20), 'done', 'one that has a place keeps it');
  shown.push(...[1, 2, 3].map(idOf));
  t.is(await take(21), 'storage_limit_reached');
  await t.notThrowsAsync(places.take(otherProjectId, idOf(21)));
});

test('A place whose storage never came to be is free after a minute', async (t) => {
  const { take, shown, clock } = await givenPlaces();
  shown.push(...Array.from({ length: 19 }, (_, n) => idOf(n + 1)));
  t.is(await take(20), 'done');
  clock.advance(59_999);
  t.is(await take(21), 'storage_limit_reached');
  clock.advance(1);
  t.is(await take(21), 'done');
  t.is(await take(22), 'storage_limit_reached');
});

test('A place whose storage exists counts however long the view lags', async (t) => {
  const { stores, createStorage, projectId: id } = await givenProject();
  for (let n = 1; n <= 20; n += 1) {
    await createStorage({ ...request, projectId: id }, givenContext(100 + n, at));
  }
  // The record still has the last claim; the view has lost the storage.
  const blind = makeStoragePlaces({
    ...stores,
    storages: { ids: () => Promise.resolve(Array.from({ length: 19 }, (_, n) => idOf(n))) },
  });
  stores.clock.advance(3_600_000);
  t.is(await outcomeOf(blind.take(id, idOf(50))), 'storage_limit_reached');
});

test('A lost answer takes one place', async (t) => {
  let lost = 0;
  const { take, shown } = await givenPlaces((store) => ({
    ...store,
    compareAndSet: async (...args) => {
      const version = await store.compareAndSet(...args);
      if ((lost += 1) === 1) throw new OutcomeUnknown('the answer was lost');
      return version;
    },
  }));
  shown.push(...Array.from({ length: 18 }, (_, n) => idOf(n + 1)));
  t.is(await take(19), 'done');
  t.is(await take(20), 'done');
  t.is(await take(21), 'storage_limit_reached');
});
