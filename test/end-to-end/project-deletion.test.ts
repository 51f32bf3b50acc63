import test from 'ava';
import { storageAggregate } from '../../src/areas/storages/domain/storage/storage.js';
import { dataKeyRecord, type LastingScope } from '../../src/keys/sealing/envelope.js';
import { eventually } from '../support/eventually.js';
import { givenSharedStores } from '../support/servers/embedded-directory.js';
import { givenAsset, givenShare, nextContext } from '../support/given/given-share.js';
import { givenTwoInProcess } from '../support/servers/service-in-process.js';
import { givenDirectory } from '../support/servers/service-process.js';

test('The deletion of a project destroys the keys of all its resources, also of late ones of another process', async (t) => {
  // Given two services over the same stores, and a project with a storage and two shares
  const directory = givenDirectory(t);
  const stores = await givenSharedStores(t, directory);
  const [one, other] = await givenTwoInProcess(t, { directory, stores });
  const place = await givenAsset(one.services);
  const { projectId, storageId } = place;
  const shares = [await givenShare(one.services, place), await givenShare(one.services, place)];
  const isDestroyed = async (scope: LastingScope): Promise<boolean> => {
    const record = await stores.stateStore.get(dataKeyRecord(scope));
    return record !== null && JSON.stringify(record.value).includes('destroyed_at');
  };
  const keyOf = (id: string): LastingScope => ({
    ...{ kind: 'storage-credentials', projectId, storageId: id, version: 1 },
  });
  t.false(await isDestroyed(keyOf(storageId)));

  const { state } = await other.services.handler.load(storageAggregate, storageId);
  if (!('configuration' in state)) throw new Error('the storage was never created');

  // When the project is deleted, then every key is destroyed
  await one.services.commands.deleteProject({ projectId }, nextContext(one.services));
  const scopes: readonly LastingScope[] = [
    keyOf(storageId),
    ...shares.map(({ id: shareId }) => ({ kind: 'share', projectId, shareId }) as const),
  ];
  await eventually('the keys are destroyed', async () =>
    (await Promise.all(scopes.map(isDestroyed))).every(Boolean),
  );

  // When the other process appends a storage that it decided on earlier, then its key is destroyed too
  const late = '019b7d00-0000-7000-8000-00000000f002';
  const { handler, sealer } = other.services;
  const sealed = { access_key: await sealer.seal(keyOf(late), 'access_key', 'AKIAEXAMPLE') };
  const create = { type: 'Create', projectId, configuration: state.configuration } as const;
  await handler.handle(
    { aggregate: storageAggregate, id: late },
    { ...create, credentials: { version: 1, sealed } },
    nextContext(other.services),
  );
  await eventually('the key is destroyed', () => isDestroyed(keyOf(late)));
});
