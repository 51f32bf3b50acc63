import test from 'ava';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import { abandonedAt } from '../../../../src/areas/assets/domain/asset/multipart.js';
import { makeDeleteAssetObjects } from '../../../../src/areas/assets/commands/delete-objects.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import type { DeleteAnswer } from '../../../../src/areas/storages/bucket/objects/call-bucket.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenAsset, nextContext, sharedFile } from '../../../support/given/given-share.js';
import { userId } from '../../../support/examples/ids.js';
import { storageCreated } from '../../../support/examples/storage.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { accountsOf, serveReaction } from '../../../support/given/serve-reaction.js';

const hour = 3_600_000;
const day = 24 * hour;
const [own, thumbnail] = [sharedFile.object_key, sharedFile.renditions[0].object_key];
const denied: DeleteAnswer = { cause: 'delete_denied', providerCode: 'AccessDenied', isAnswered: true };

/** Given an asset with a rendition, and a bucket that answers as the test sets. */
async function given() {
  const stores = await givenStores();
  const { clock, handler, eventStore } = stores;
  const bucket: { answer: (key: string) => DeleteAnswer | Promise<DeleteAnswer>; asked: string[] } = {
    answer: () => 'deleted',
    asked: [],
  };
  const commands = givenCommands(stores, {
    buckets: {
      deleteObject: async ({ key }) => {
        bucket.asked.push(key);
        return bucket.answer(key);
      },
    },
  });
  const place = await givenAsset({ ...stores, commands });
  const reaction: AnyReaction = makeDeleteAssetObjects({ ...stores, ...commands, viewsShow: () => true });
  const context = () => nextContext(stores);
  const { projectId, storageId, assetId } = place;
  return {
    ...{ stores, clock, commands, bucket, place, context },
    remove: () => commands.removeAsset({ ...place, deletesObjects: true }, context()),
    add: (object_key: string, to = storageId) =>
      commands.addAsset(
        {
          projectId,
          storageId: to,
          name: 'Again',
          object_key,
          media_type: 'image/png',
          size: 0,
          renditions: [],
        },
        context(),
      ),
    bind: async (bucketName: string, base_path: string) => {
      const input = {
        ...{ projectId, name: 'Other', bucket: bucketName, region: 'eu-central-1', base_path },
        provider: 's3',
        credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
      } as const;
      return (await commands.createStorage(input, context())).resource.id;
    },
    /** Binds folders of the bucket to storages, which a list by id shows first. */
    bindFolders: async (count: number) => {
      for (let at = 0; at < count; at += 1) {
        const id = `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`;
        const data = { ...storageCreated.data, bucket: 'rushes', base_path: `tenant-${at}` };
        const target = { aggregate: storageAggregate, id };
        await appendEvents(handler, target, [{ type: 'StorageCreated', data }], clock.now());
      }
    },
    undeleted: () => commands.assets.undeletedIn(storageId, { limit: 10 }),
    multipart: async (step: 'start' | 'end') => {
      const uploadId = '019b7d00-0000-7000-8000-0000000000a1';
      const upload = {
        ...{ upload_id: uploadId, bucket_upload_id: 'an-id', part_size: 16_777_216, replaces: null },
        ...{ storage_id: storageId, object_key: own, abort_at: abandonedAt(clock.now()) },
      };
      const target = { aggregate: assetAggregate, id: assetId };
      await handler.handle(
        target,
        step === 'start'
          ? { type: 'StartMultipart', upload }
          : { type: 'EndMultipart', uploadId, outcome: 'aborted' },
        context(),
      );
    },
    pending: async () => {
      const { state } = await handler.load(assetAggregate, assetId);
      return state.status === 'removed' ? state.deletion : null;
    },
    accounts: () => accountsOf(reaction, { eventStore }),
    serve: () => serveReaction(reaction, { eventStore }),
  };
}

test('The objects of an asset and its renditions are deleted once, where the removal asks for it', async (t) => {
  const { remove, serve, bucket, undeleted, pending, add } = await given();
  await remove();
  t.like((await undeleted())[0]?.objects, [{ object_key: own, cause: 'not_tried_yet' }]);
  await serve();
  await serve();
  t.deepEqual(bucket.asked.toSorted(), [own, thumbnail].toSorted());
  t.deepEqual(await undeleted(), []);
  t.is(await pending(), null);
  await t.notThrowsAsync(add(own));

  const plain = await given();
  await plain.commands.removeAsset(plain.place, plain.context());
  await plain.serve();
  t.deepEqual(plain.bucket.asked, []);
});

test('A bucket that refuses is asked each day, 7 times in all, and no asset gets the object meanwhile', async (t) => {
  const { clock, remove, serve, bucket, undeleted, add } = await given();
  bucket.answer = (key) => (key === own ? denied : 'deleted');
  await remove();
  for (let days = 0; days < 30; days += 1) {
    await serve();
    await serve();
    const [left, ...others] = await undeleted();
    t.deepEqual(others, []);
    t.deepEqual(left?.objects, [{ object_key: own, cause: 'delete_denied', provider_code: 'AccessDenied' }]);
    if (days < 6) {
      t.is(left?.next_attempt_at, new Date(clock.now().getTime() + day).toISOString());
      await t.throwsAsync(add(own), { message: /is being deleted/ });
    } else t.is(left?.next_attempt_at, null);
    clock.advance(day);
  }
  t.is(bucket.asked.filter((key) => key === own).length, 7);
  t.is(bucket.asked.filter((key) => key === thumbnail).length, 1);
  await t.notThrowsAsync(add(own));
  t.is((await undeleted()).length, 1);
});

test('An object that an asset of another storage with the bucket has stays, and so does one that it is getting', async (t) => {
  const { remove, serve, bucket, bind, add, undeleted } = await given();
  const folder = await bind('rushes', '2026');
  const another = await bind('rushes-2', '');
  // The same key in another bucket is another object.
  await add(thumbnail, another);
  await add(own.slice('2026/'.length), folder);
  await remove();
  bucket.answer = async (): Promise<DeleteAnswer> => {
    // While the bucket deletes, no asset gets the object in any storage.
    await t.throwsAsync(add(thumbnail.slice('2026/'.length), folder), { message: /is being deleted/ });
    await t.throwsAsync(add(thumbnail), { message: /is being deleted/ });
    return 'deleted';
  };
  await serve();
  t.deepEqual(bucket.asked, [thumbnail]);
  t.deepEqual((await undeleted())[0]?.objects, [
    { object_key: own, cause: 'object_in_use', provider_code: null },
  ]);
  await t.notThrowsAsync(add(thumbnail.slice('2026/'.length), folder));
});

test('Storages of other folders of the bucket keep no object, and the last storage of many keeps its own', async (t) => {
  // Given more storages than a page of their list has
  const { remove, serve, bucket, bindFolders, bind, add, undeleted } = await given();
  await bindFolders(201);
  await add(own.slice('2026/'.length), await bind('rushes', '2026'));
  // When
  await remove();
  await serve();
  // Then
  t.deepEqual(bucket.asked, [thumbnail]);
  t.deepEqual((await undeleted())[0]?.objects, [
    { object_key: own, cause: 'object_in_use', provider_code: null },
  ]);
});

test('Without an answer of the bucket, another storage gets the object only a minute later', async (t) => {
  const { clock, remove, serve, bucket, bind, add } = await given();
  const other = await bind('rushes', '');
  bucket.answer = () => ({ cause: 'connection_timeout', providerCode: null, isAnswered: false });
  await remove();
  await serve();
  await t.throwsAsync(add(own, other), { message: /is being deleted/ });
  clock.advance(60_000);
  await t.notThrowsAsync(add(own, other));
  clock.advance(day);
  bucket.asked.length = 0;
  await serve();
  t.deepEqual(bucket.asked, [thumbnail]);
});

test('A claim that was made while a clock was ahead keeps an object from another storage for no longer', async (t) => {
  const { clock, remove, serve, bucket, bind, add } = await given();
  const other = await bind('rushes', '');
  bucket.answer = () => ({ cause: 'connection_timeout', providerCode: null, isAnswered: false });
  clock.advance(day / 2);
  await remove();
  await serve();
  clock.advance(60_000 - day / 2);
  await t.notThrowsAsync(add(own, other));
});

test('The end of an upload in parts after the removal leaves the list of objects as it is', async (t) => {
  const { remove, serve, bucket, undeleted, multipart } = await given();
  bucket.answer = () => denied;
  await multipart('start');
  await remove();
  await serve();
  await multipart('end');
  t.is((await undeleted())[0]?.objects.length, 2);
});

test('A storage that leads elsewhere ends the deletion, and a disabled one waits a day', async (t) => {
  // Without an endpoint, a bucket of the same name in another region is another bucket.
  for (const changes of [{ base_path: 'videos' }, { region: 'cn-north-1' }]) {
    const changed = await given();
    await changed.remove();
    await changed.commands.changeStorage({ ...changed.place, changes }, changed.context());
    await changed.serve();
    t.deepEqual(changed.bucket.asked, []);
    t.is((await changed.undeleted())[0]?.objects[0]?.cause, 'storage_changed');
    t.is(await changed.pending(), null);
  }

  const { commands, place, context, remove, serve, undeleted, clock, bucket, pending } = await given();
  await remove();
  await commands.disableStorage(place, context());
  await serve();
  t.is((await undeleted())[0]?.objects[0]?.cause, 'storage_disabled');
  await commands.enableStorage(place, context());
  clock.advance(day);
  await serve();
  t.is(bucket.asked.length, 2);
  t.is(await pending(), null);
});

test('A deletion counts for the payer of the project', async (t) => {
  const { remove, accounts } = await given();
  await remove();
  t.deepEqual(await accounts(), [userId]);
});
