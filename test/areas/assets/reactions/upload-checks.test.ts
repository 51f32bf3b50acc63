import test from 'ava';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import { makeCheckUploads } from '../../../../src/areas/assets/commands/uploads/confirm-upload.js';
import type { HeadAnswer } from '../../../../src/areas/storages/bucket/objects/head-object.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { userId } from '../../../support/examples/ids.js';
import { capacityGranted, userRegistered } from '../../../support/examples/user.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { addAsset, givenAsset, nextContext, sharedFile } from '../../../support/given/given-share.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { accountsOf, serveReaction } from '../../../support/given/serve-reaction.js';

const minute = 60_000;
const file: HeadAnswer = {
  kind: 'found',
  by: 'head',
  modified_at: null,
  object: { size: sharedFile.size, entity_tag: 'a-new-tag', media_type: sharedFile.media_type, sha256: null },
};

/** Given an asset, and a bucket that answers as the test sets. */
async function given() {
  const stores = await givenStores();
  const bucket = {
    answer: { kind: 'missing' } as HeadAnswer,
    asked: 0,
    /** What happens while the bucket is asked. */
    meanwhile: (): Promise<unknown> => Promise.resolve(),
  };
  const commands = givenCommands(stores, {
    buckets: {
      headObject: async () => {
        bucket.asked += 1;
        const { answer } = bucket;
        await bucket.meanwhile();
        return answer;
      },
    },
  });
  const { clock, handler, eventStore } = stores;
  await appendEvents(
    handler,
    { aggregate: userAggregate, id: userId },
    [userRegistered, capacityGranted],
    clock.now(),
  );
  const service = { ...stores, commands };
  const place = await givenAsset(service);
  const reaction: AnyReaction = makeCheckUploads({ ...stores, ...commands });
  return {
    ...{ stores, service, commands, bucket, place, clock },
    issue: (assetId = place.assetId) =>
      commands.issueUploadUrl({ ...place, assetId, rendition: undefined }, nextContext(stores)),
    stateOf: async (assetId = place.assetId) => (await handler.load(assetAggregate, assetId)).state,
    accounts: () => accountsOf(reaction, { eventStore }),
    /** Serves the checks whose deadline has not passed. @returns the number of served checks */
    serve: () => serveReaction(reaction, { eventStore }, { now: clock.now() }),
  };
}

test('The bucket is asked after an upload URL until the file is there', async (t) => {
  const { clock, issue, serve, bucket, stateOf } = await given();
  await issue();
  t.is(await serve(), 0);
  clock.advance(2 * minute);
  t.is(await serve(), 1);
  t.is(await serve(), 0, 'the next check waits');
  clock.advance(17 * minute);
  bucket.answer = file;
  t.is(await serve(), 1);
  t.like(await stateOf(), { upload: 'complete', object: { entity_tag: 'a-new-tag' }, expected: null });
  clock.advance(48 * 60 * minute);
  t.is(await serve(), 0);
  t.is(bucket.asked, 2);
});

test('A bucket without the file is asked four times after the last upload URL', async (t) => {
  const { clock, issue, serve, bucket } = await given();
  await issue();
  clock.advance(2 * minute);
  await serve();
  await issue();
  for (let hours = 0; hours < 72; hours += 1) {
    clock.advance(60 * minute);
    await serve();
  }
  t.is(bucket.asked, 5);
});

test('An upload URL that is issued during a check gets its own first check', async (t) => {
  const { clock, issue, serve, bucket, stateOf } = await given();
  await issue();
  clock.advance(2 * minute);
  bucket.meanwhile = () => issue();
  t.is(await serve(), 1);
  bucket.meanwhile = () => Promise.resolve();
  bucket.answer = file;
  clock.advance(2 * minute);
  t.is(await serve(), 1);
  t.like(await stateOf(), { object: { entity_tag: 'a-new-tag' }, expected: null });
});

test('An upload URL sets a check also where a clock that was ahead has set one', async (t) => {
  const { clock, issue, serve, bucket, stateOf } = await given();
  clock.advance(24 * 60 * minute);
  await issue();
  clock.advance(-24 * 60 * minute);
  await issue();
  bucket.answer = file;
  clock.advance(2 * minute);
  t.is(await serve(), 1);
  t.like(await stateOf(), { object: { entity_tag: 'a-new-tag' }, expected: null });
});

test('A storage that does not answer is not asked for its other assets for five minutes', async (t) => {
  const { clock, issue, serve, bucket, place, service, stateOf } = await given();
  const others = [await addAsset(service, place), await addAsset(service, place)];
  for (const assetId of [place.assetId, ...others]) await issue(assetId);
  bucket.answer = { kind: 'away' };
  clock.advance(2 * minute);
  t.is(await serve(), 1);
  clock.advance(4 * minute);
  t.is(await serve(), 0);
  t.is(bucket.asked, 1);
  bucket.answer = file;
  clock.advance(17 * minute);
  t.is(await serve(), 3);
  t.is(bucket.asked, 4);
  for (const assetId of others) t.like(await stateOf(assetId), { object: { entity_tag: 'a-new-tag' } });
});

test('A storage that rests uses up no check of an upload', async (t) => {
  // Given two uploads, whose files come after the third check
  const { clock, issue, serve, bucket, place, service, stateOf } = await given();
  const other = await addAsset(service, place);
  for (const assetId of [place.assetId, other]) await issue(assetId);
  for (const minutes of [2, 17, 120]) {
    clock.advance(minutes * minute);
    t.is(await serve(), 2);
  }
  // When the bucket gives no answer to the last check of one
  bucket.answer = { kind: 'away' };
  clock.advance(22 * 60 * minute);
  await serve();
  bucket.answer = file;
  clock.advance(6 * minute);
  await serve();
  // Then the other one gets its last check a little later
  t.like(await stateOf(other), { upload: 'complete', expected: null });
});

test('A disabled storage is not asked, and is asked again when it is enabled', async (t) => {
  const { clock, issue, serve, bucket, place, commands, stores, stateOf } = await given();
  await issue();
  const storage = { projectId: place.projectId, storageId: place.storageId };
  await commands.disableStorage(storage, nextContext(stores));
  clock.advance(2 * minute);
  t.is(await serve(), 1);
  t.is(bucket.asked, 0);
  await commands.enableStorage(storage, nextContext(stores));
  bucket.answer = file;
  clock.advance(17 * minute);
  await serve();
  t.like(await stateOf(), { object: { entity_tag: 'a-new-tag' } });
});

test('A check of a removed asset, of a rendition, and of an old log asks no bucket', async (t) => {
  const { clock, issue, serve, bucket, place, commands, stores } = await given();
  await commands.issueUploadUrl({ ...place, rendition: 'thumbnail' }, nextContext(stores));
  clock.advance(2 * minute);
  t.is(await serve(), 0, 'a rendition has no upload state');
  await issue();
  clock.advance(8 * 24 * 60 * minute);
  t.is(await serve(), 0, 'the deadline passed');
  await issue();
  await commands.removeAsset(place, nextContext(stores));
  clock.advance(2 * minute);
  t.is(await serve(), 0);
  t.is(bucket.asked, 0);
});

test('The check of an upload counts for the payer of the project', async (t) => {
  const { issue, accounts } = await given();
  await issue();
  t.deepEqual(await accounts(), [userId]);
});
