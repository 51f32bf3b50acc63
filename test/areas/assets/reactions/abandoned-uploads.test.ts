import test from 'ava';
import { assetAggregate, openMultipart } from '../../../../src/areas/assets/domain/asset/asset.js';
import { abandonedAt } from '../../../../src/areas/assets/domain/asset/multipart.js';
import { makeAbortUploads } from '../../../../src/areas/assets/commands/uploads/end-upload.js';
import { type AnyReaction, eventFor } from '../../../../src/event-sourcing/effects/reaction.js';
import type { MultipartFailureReply } from '../../../../src/areas/storages/bucket/objects/multipart.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenAsset, nextContext } from '../../../support/given/given-share.js';
import { userId } from '../../../support/examples/ids.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { accountsOf, serveReaction } from '../../../support/given/serve-reaction.js';

const hour = 3_600_000;
const day = 24 * hour;
const uploadId = '019b7d00-0000-7000-8000-0000000000a1';

/** Given an open upload, and a bucket that answers an abort as the test sets. */
async function given() {
  const stores = await givenStores();
  const { clock, handler, eventStore } = stores;
  const bucket: { answer: 'done' | MultipartFailureReply; aborted: string[] } = {
    answer: 'done',
    aborted: [],
  };
  const away = () => Promise.resolve({ failure: 'away' } as const);
  const commands = givenCommands(stores, {
    buckets: {
      multipart: {
        ...{ start: away, listParts: away, complete: away },
        abort: ({ key, bucketUploadId }) => {
          bucket.aborted.push(`${key} ${bucketUploadId}`);
          return Promise.resolve(bucket.answer);
        },
      },
    },
  });
  const place = await givenAsset({ ...stores, commands });
  const uploadOf = (upload_id: string) => ({
    ...{ upload_id, bucket_upload_id: 'an-id', part_size: 16_777_216, replaces: null },
    ...{ storage_id: place.storageId, object_key: '2026/rhine.png', abort_at: abandonedAt(clock.now()) },
  });
  const target = { aggregate: assetAggregate, id: place.assetId };
  const begin = (id: string) =>
    handler.handle(target, { type: 'StartMultipart', upload: uploadOf(id) }, nextContext(stores));
  await begin(uploadId);
  const reaction: AnyReaction = makeAbortUploads({ ...stores, ...commands });
  return {
    ...{ stores, clock, commands, bucket, place, begin, reaction },
    open: async () => openMultipart((await handler.load(assetAggregate, place.assetId)).state),
    end: (outcome: 'completed' | 'aborted') =>
      handler.handle(target, { type: 'EndMultipart', uploadId, outcome }, nextContext(stores)),
    serve: () => serveReaction(reaction, { eventStore }),
  };
}

test('An upload that is still open after 7 days is aborted once', async (t) => {
  const { clock, serve, bucket, open } = await given();
  clock.advance(7 * day - 1);
  await serve();
  t.deepEqual(bucket.aborted, []);
  clock.advance(1);
  await serve();
  t.deepEqual(bucket.aborted, ['2026/rhine.png an-id']);
  t.is(await open(), null);
  clock.advance(7 * day);
  await serve();
  t.is(bucket.aborted.length, 1);
});

test('The upload of a removed asset is aborted too, and one that ended is not', async (t) => {
  const removed = await given();
  await removed.commands.removeAsset(removed.place, nextContext(removed.stores));
  removed.clock.advance(7 * day);
  await removed.serve();
  t.is(removed.bucket.aborted.length, 1);
  t.is(await removed.open(), null);
  const ended = await given();
  await ended.end('completed');
  ended.clock.advance(7 * day);
  await ended.serve();
  t.deepEqual(ended.bucket.aborted, []);
});

test('An upload that began after the one that is due stays open', async (t) => {
  const { clock, stores, bucket, open, end, begin, reaction } = await given();
  clock.advance(7 * day);
  const { events } = await stores.eventStore.readAll({ after: null, limit: 100 });
  const started = events.find(({ type }) => type === 'AssetMultipartStarted');
  const event = started === undefined ? null : eventFor(reaction, started);
  if (event === null) return t.fail('the upload has not begun');
  t.is(await reaction.asks(event), 'yes');
  await end('completed');
  await begin('019b7d00-0000-7000-8000-0000000000a2');
  await reaction.perform?.(event, new AbortController().signal);
  t.deepEqual(bucket.aborted, []);
  t.like(await open(), { upload_id: '019b7d00-0000-7000-8000-0000000000a2' });
});

test('A bucket that does not answer is asked each day, 7 times in all', async (t) => {
  const { clock, serve, bucket, open } = await given();
  bucket.answer = { failure: 'away' };
  for (let days = 0; days < 30; days += 1) {
    clock.advance(day);
    await serve();
    await serve();
  }
  t.is(bucket.aborted.length, 7);
  t.is(await open(), null);
});

test('An upload that the bucket forgot counts as aborted, and a disabled storage waits a day', async (t) => {
  const { clock, serve, bucket, open, commands, place, stores } = await given();
  bucket.answer = { failure: 'missing' };
  await commands.disableStorage(place, nextContext(stores));
  clock.advance(7 * day);
  await serve();
  t.deepEqual(bucket.aborted, []);
  t.is((await open())?.attempt, 2);
  await commands.enableStorage(place, nextContext(stores));
  clock.advance(day);
  await serve();
  t.is(bucket.aborted.length, 1);
  t.is(await open(), null);
});

test('The abort of an upload counts for the payer of the project', async (t) => {
  const { stores, reaction } = await given();
  t.deepEqual(await accountsOf(reaction, stores), [userId]);
});
