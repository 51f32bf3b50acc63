import { assetAggregate } from '../../src/areas/assets/domain/asset/asset.js';
import { keysOfAsset } from '../../src/areas/assets/domain/asset/fold.js';
import { CommandRejected, OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../src/kit/semaphore.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { type BucketCalls, givenCommands } from '../support/given/given-commands.js';
import { givenAsset, nextContext } from '../support/given/given-share.js';
import { givenStores } from '../support/given/given-stores.js';

const day = 86_400_000;

/**
 * Races two clients of two processes for one key: additions, renditions and imports in two storages of one bucket, against the
 * deletion of an asset that has the key. Stores lose answers, views lag, and DELETEs arrive late. A client uploads after it got
 * the key. Returns what went wrong; null: in each storage at most one asset has the key, and its file is there.
 */
export async function raceForKey(seed: number, tally = new Map<string, number>()): Promise<string | null> {
  const random = makeSeededRandom(seed);
  let isCalm = true;
  const chance = (share: number): boolean => !isCalm && random() < share;
  const pause = async (turnsMax = 6): Promise<void> => {
    for (let turns = isCalm ? 0 : Math.floor(random() * turnsMax); turns > 0; turns -= 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const stores = await givenStores({
    mayLag: true,
    wrapState: (store) => ({
      ...store,
      compareAndSet: async (...args) => {
        await pause();
        const version = await store.compareAndSet(...args);
        if (chance(0.05)) throw new OutcomeUnknown('the answer was lost');
        return version;
      },
    }),
    wrap: (store) => ({
      ...store,
      append: async (...args) => {
        await pause();
        return store.append(...args);
      },
    }),
    wrapDocuments: (store) => ({
      ...store,
      write: async (...args) => {
        await pause();
        if (chance(0.1)) throw new StoreUnavailable('the view lags');
        return store.write(...args);
      },
    }),
  });
  const files = new Set<string>();
  const late: Promise<unknown>[] = [];
  const buckets: Partial<BucketCalls> = {
    deleteObject: async ({ key }) => {
      const isAnswered = !chance(0.3);
      const deleting = pause(60).then(() => files.delete(key));
      if (isAnswered) await deleting;
      else late.push(deleting);
      return isAnswered ? 'deleted' : { cause: 'connection_timeout', providerCode: null, isAnswered };
    },
    listObjects: () => Promise.resolve({ kind: 'listed', objects: listed, next: null }),
  };
  const processes = [
    givenCommands(stores, { buckets }),
    givenCommands(stores.anotherProcess(), { buckets }),
  ] as const;
  const [first] = processes;
  const context = () => nextContext(stores);
  const { projectId, storageId } = await givenAsset({ ...stores, commands: first });
  const bucket = { name: 'Other', provider: 's3', bucket: 'rushes', region: 'eu-central-1' } as const;
  const credentials = { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' };
  const other = await first.createStorage({ projectId, ...bucket, credentials }, context());
  const storageIds = [storageId, other.resource.id];
  const file = { name: 'a.png', media_type: 'image/png', size: 0, renditions: [] };

  // Given an asset whose file is in the bucket, and no claim that is younger than a day, or a claim
  const given = random() < 0.5 ? { object_key: 'a.png' } : {};
  const { resource: owner } = await first.addAsset({ projectId, storageId, ...file, ...given }, context());
  const key = owner.object_key;
  const listed = [{ text: key, readings: [key], isSure: true, size: 0, entity_tag: null }];
  files.add(key);
  const assets = [owner.id];
  for (const storage of storageIds) {
    const holder = await first.addAsset({ projectId, storageId: storage, ...file }, context());
    assets.push(holder.resource.id);
  }
  if (random() < 0.5) stores.clock.advance(2 * day);
  isCalm = false;

  // When it is removed with its file, and clients race for its key
  const remove = async (assetId: string, deletesObjects: boolean, by = pick(processes)): Promise<void> => {
    await by.removeAsset({ projectId, assetId, deletesObjects }, context());
    if (!deletesObjects) return;
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const { state } = await stores.handler.load(assetAggregate, assetId);
      const pending = state.status === 'removed' ? state.deletion : null;
      if (pending === null) return;
      const found = await by.deleteObjects(assetId, pending, new AbortController().signal);
      if (found.kept.length > 0) count('kept');
      const record = { type: 'RecordDeletion', attempt, now: stores.clock.now(), ...found } as const;
      await stores.handler.handle({ aggregate: assetAggregate, id: assetId }, record, context());
    }
  };
  const take = async (): Promise<void> => {
    const [by, storage] = [pick(processes), pick(storageIds)];
    const input = { projectId, storageId: storage };
    const way = Math.floor(random() * 3);
    const holder = assets[1 + storageIds.indexOf(storage)] ?? '';
    if (way === 0) {
      const added = await by.addAsset({ ...input, ...file, object_key: key }, context());
      assets.push(added.resource.id);
    } else if (way === 1) {
      const rendition = { kind: `k${assets.length}`, object_key: key, media_type: 'image/png', size: 0 };
      await by.putAssetRendition({ projectId, assetId: holder, rendition }, context());
    } else {
      const { added } = await by.importAssets({ ...input, prefix: '', cursor: null, limit: 10 }, context());
      if (added.length === 0) {
        count('skipped');
        return;
      }
      assets.push(...added.map(({ id }) => id));
    }
    await pause();
    files.add(key);
    count('taken');
    if (way === 0 && chance(0.3)) await remove(assets.at(-1) ?? '', chance(0.5), by);
  };
  const clients = Array.from({ length: 4 }, async () => {
    for (let n = 0; n < 3; n += 1) await settled(take);
  });
  await Promise.all([settled(() => remove(owner.id, true)), ...clients]);
  await Promise.all(late);

  // Then one asset of a storage has the key, and its file is there
  for (const storage of storageIds) {
    const states = await Promise.all(assets.map(async (id) => stores.handler.load(assetAggregate, id)));
    const holders = states.filter(
      ({ state }) =>
        state.status === 'existing' && state.storage_id === storage && keysOfAsset(state).includes(key),
    );
    if (holders.length > 1) return `${holders.length} assets have the key`;
    if (holders.length === 1 && !files.has(key)) return 'a live asset has lost its file';
  }
  return null;

  async function settled(work: () => Promise<void>): Promise<void> {
    try {
      await pause();
      await work();
    } catch (error) {
      if (error instanceof CommandRejected) {
        count(String(error.code));
        return;
      }
      if (error instanceof Overloaded || error instanceof StoreUnavailable) {
        count(error.name);
        return;
      }
      throw error;
    }
  }

  function count(what: string): void {
    tally.set(what, (tally.get(what) ?? 0) + 1);
  }

  function pick<Choice>(choices: readonly [Choice, ...Choice[]] | readonly Choice[]): Choice {
    return choices[Math.floor(random() * choices.length)] as Choice;
  }
}
