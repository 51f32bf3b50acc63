import test from 'ava';
import {
  CommandRejected,
  OutcomeUnknown,
  StoreUnavailable,
} from '../../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../../src/event-sourcing/ports/state-store.js';
import { makeStoragePlaces } from '../../../../src/areas/storages/commands/storage-places.js';
import { otherProjectId, projectId, userId } from '../../../support/examples/ids.js';
import { memberId as idOf } from '../../../support/examples/project.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { partial } from '../../../support/fakes/partial.js';
import type { StorageReader } from '../../../../projections/storages/storage-configs/reader.js';

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

/** Places over a state store, and a view that shows what the test says, for two processes. */
async function givenPlaces(wrap: (store: StateStore) => StateStore = (store) => store) {
  const stores = await givenStores();
  const shown: string[] = [];
  const stateStore = wrap(stores.stateStore);
  let reads = 0;
  const startProcess = () => {
    const storages = partial<StorageReader>({
      ids: (_, limit) => {
        reads += 1;
        return Promise.resolve(shown.slice(0, limit));
      },
    });
    const places = makeStoragePlaces({ ...stores, stateStore, storages });
    return {
      places,
      take: (n: number) => outcomeOf(places.take(projectId, idOf(n))),
    };
  };
  return { ...stores, shown, reads: () => reads, ...startProcess(), another: startProcess() };
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

test('Two processes create twenty of thirty storages at once', async (t) => {
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

test('A claimed place counts before the view shows its storage, once, and only in its project', async (t) => {
  const { take, places, shown } = await givenPlaces();
  for (let n = 1; n <= 20; n += 1) t.is(await take(n), 'done');
  t.is(await take(21), 'storage_limit_reached');
  t.is(await take(20), 'done', 'a storage with a place keeps it');
  shown.push(...[1, 2, 3].map(idOf));
  t.is(await take(21), 'storage_limit_reached');
  await t.notThrowsAsync(places.take(otherProjectId, idOf(21)));
});

test('A place whose storage was never created is free after a minute', async (t) => {
  const { take, shown, clock } = await givenPlaces();
  shown.push(...Array.from({ length: 19 }, (_, n) => idOf(n + 1)));
  t.is(await take(20), 'done');
  clock.advance(59_999);
  t.is(await take(21), 'storage_limit_reached');
  clock.advance(1);
  t.is(await take(21), 'done');
  t.is(await take(22), 'storage_limit_reached');
});

test('A place of an existing storage counts, however long the view lags', async (t) => {
  const { stores, createStorage, projectId: id } = await givenProject();
  for (let n = 1; n <= 20; n += 1) {
    await createStorage({ ...request, projectId: id }, givenContext(100 + n, at));
  }
  // The record still has the last claim. The view has lost the storage.
  const blind = makeStoragePlaces({
    ...stores,
    storages: partial({ ids: () => Promise.resolve(Array.from({ length: 19 }, (_, n) => idOf(n))) }),
  });
  stores.clock.advance(3_600_000);
  t.is(await outcomeOf(blind.take(id, idOf(50))), 'storage_limit_reached');
});

test('A lost answer of the store takes one place', async (t) => {
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

test('Two processes that race for the last place take it once', async (t) => {
  const { take, another } = await givenPlaces();
  for (const n of numbers(1, 10)) t.is(await take(n), 'done');
  for (const n of numbers(11, 19)) t.is(await another.take(n), 'done');
  const outcomes = await Promise.all([take(20), another.take(21)]);
  t.deepEqual([...outcomes].sort(), ['done', 'storage_limit_reached']);
});

test('A process claims on the record that it has written, and reads it after a lost race and before a refusal', async (t) => {
  let [gets, sets] = [0, 0];
  const { take, another } = await givenPlaces((store) => ({
    ...store,
    get: (key) => {
      gets += 1;
      return store.get(key);
    },
    compareAndSet: (...args) => {
      sets += 1;
      return store.compareAndSet(...args);
    },
  }));
  const callsOf = async (taking: () => Promise<string>) => {
    [gets, sets] = [0, 0];
    const outcome = await taking();
    return { outcome, gets, sets };
  };
  t.deepEqual(await callsOf(() => take(1)), { outcome: 'done', gets: 1, sets: 1 });
  t.deepEqual(await callsOf(() => take(2)), { outcome: 'done', gets: 0, sets: 1 });
  t.deepEqual(await callsOf(() => another.take(3)), { outcome: 'done', gets: 1, sets: 1 });
  t.deepEqual(
    await callsOf(() => take(4)),
    { outcome: 'done', gets: 1, sets: 2 },
    'the cached record is stale',
  );
  for (const n of numbers(5, 20)) t.is(await take(n), 'done');
  t.deepEqual(await callsOf(() => take(21)), { outcome: 'storage_limit_reached', gets: 1, sets: 0 });
});

test('The first claim of a new owner reads nothing, and the second one claims on its record', async (t) => {
  let gets = 0;
  const { take, places, reads, clock } = await givenPlaces((store) => ({
    ...store,
    get: (key) => {
      gets += 1;
      return store.get(key);
    },
  }));
  places.noteNew(projectId, clock.now());
  t.is(await take(1), 'done');
  t.is(await take(2), 'done');
  t.deepEqual([gets, reads()], [0, 0]);
  for (const n of numbers(3, 20)) t.is(await take(n), 'done');
  t.is(await take(21), 'storage_limit_reached');
});

test('A claim of another process counts also where the owner seems new', async (t) => {
  const { take, places, another, clock } = await givenPlaces();
  places.noteNew(projectId, clock.now());
  another.places.noteNew(projectId, clock.now());
  for (const n of numbers(1, 19)) t.is(await another.take(n), 'done');
  t.is(await take(20), 'done');
  t.is(await take(21), 'storage_limit_reached');
});

test('A new owner is read when the answer of the first claim was lost', async (t) => {
  let lost = 0;
  const { take, places, shown, clock } = await givenPlaces((store) => ({
    ...store,
    compareAndSet: (...args) => {
      lost += 1;
      return lost === 1
        ? Promise.reject(new OutcomeUnknown('it never arrived'))
        : store.compareAndSet(...args);
    },
  }));
  places.noteNew(projectId, clock.now());
  shown.push(...numbers(1, 20).map(idOf));
  t.is(await take(21), 'storage_limit_reached');
});

test('An owner is new for an hour, so that the records of its claims cannot have expired', async (t) => {
  const { take, places, another, shown, clock } = await givenPlaces();
  places.noteNew(projectId, clock.now());
  for (const n of numbers(1, 20)) t.is(await another.take(n), 'done');
  shown.push(...numbers(1, 20).map(idOf));
  clock.advance(25 * 3_600_000);
  t.is(await take(21), 'storage_limit_reached');
  // An owner that a repeated command finds was made long ago
  places.noteNew(projectId, new Date(clock.now().getTime() - 25 * 3_600_000));
  t.is(await take(21), 'storage_limit_reached');
});

test('A claim that ends while another process reads is counted', async (t) => {
  let meanwhile = async (): Promise<unknown> => Promise.resolve();
  const { take, another, shown, clock } = await givenPlaces((store) => ({
    ...store,
    get: async (key) => {
      const work = meanwhile;
      meanwhile = () => Promise.resolve();
      await work();
      return store.get(key);
    },
  }));
  shown.push(...numbers(1, 18).map(idOf));
  t.is(await another.take(19), 'done');
  clock.advance(30_000);
  meanwhile = async () => {
    // The view shows the nineteenth storage, so the next claim drops its claim from the record.
    shown.push(idOf(19));
    t.is(await another.take(20), 'done');
  };
  t.is(await take(21), 'storage_limit_reached');
});

test('Of thirty places that are taken at once, twenty are given', async (t) => {
  const { take } = await givenPlaces();
  const outcomes = await Promise.all(numbers(1, 30).map(take));
  t.is(outcomes.filter((outcome) => outcome === 'done').length, 20);
  t.is(outcomes.filter((outcome) => outcome === 'storage_limit_reached').length, 10);
});

test('The view is read for the first place and when the record counts no more room', async (t) => {
  const { take, shown, reads } = await givenPlaces();
  shown.push(...numbers(1, 5).map(idOf));
  for (const n of numbers(6, 20)) t.is(await take(n), 'done');
  t.is(reads(), 1);
  // Two of those that were shown are deleted, and two that have claims are shown
  shown.splice(0, 2);
  shown.push(...numbers(6, 7).map(idOf));
  for (const n of numbers(21, 22)) t.is(await take(n), 'done');
  t.is(reads(), 2);
  t.is(await take(23), 'storage_limit_reached');
  t.is(reads(), 3);
});

test('A repeated creation keeps its place for another minute', async (t) => {
  const { take, shown, clock } = await givenPlaces();
  shown.push(...numbers(1, 19).map(idOf));
  t.is(await take(20), 'done');
  clock.advance(50_000);
  t.is(await take(20), 'done');
  clock.advance(50_000);
  t.is(await take(21), 'storage_limit_reached');
});

test('A refused creation in a full project makes no key for its credentials', async (t) => {
  const { stores, createStorage, projectId: id } = await givenProject();
  for (const n of numbers(1, 20)) {
    await createStorage({ ...request, projectId: id }, givenContext(100 + n, at));
  }
  const keys = async () => (await stores.stateStore.list('data-key/', { limit: 100 })).length;
  const before = await keys();
  t.true(before >= 20);
  t.is(
    await outcomeOf(createStorage({ ...request, projectId: id }, givenContext(200, at))),
    'storage_limit_reached',
  );
  t.is(await keys(), before);
});

test('A creation that fails to claim a place leaves no storage and can be repeated', async (t) => {
  const { stores, projectId: id } = await givenProject();
  let isAway = true;
  const stateStore: StateStore = {
    ...stores.stateStore,
    compareAndSet: (key, ...rest) =>
      isAway && key.startsWith('places/')
        ? Promise.reject(new StoreUnavailable('it was away'))
        : stores.stateStore.compareAndSet(key, ...rest),
  };
  const { createStorage, storages } = givenCommands({ ...stores, stateStore });
  const create = () => outcomeOf(createStorage({ ...request, projectId: id }, givenContext(100, at)));
  t.regex(await create(), /it was away/);
  t.deepEqual(await storages.ids(id, 50), []);
  isAway = false;
  t.is(await create(), 'done');
  t.is((await storages.ids(id, 50)).length, 1);
});
