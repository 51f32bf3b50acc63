import test from 'ava';
import { type AssetDocument, assetsProjection } from '../../../projections/assets/assets/projection.js';
import type { AssetEvent } from '../../../src/areas/assets/domain/asset/events.js';
import { foldEvents } from '../../../src/event-sourcing/views/projection.js';
import { assetDescription } from '../../support/examples/asset.js';
import { testId } from '../../support/examples/ids.js';
import { eventTime, recordEvents } from '../../support/given/given-events.js';
import { givenProjection } from '../../support/given/given-projection.js';

const until = eventTime(9);
const added: AssetEvent = { type: 'AssetAdded', data: assetDescription };
const unseen: readonly AssetEvent[] = [
  { type: 'AssetUploadExpected', data: { attempt: 1, check_at: until } },
  { type: 'AssetUploadChecksEnded', data: {} },
  {
    type: 'AssetMultipartStarted',
    data: {
      ...{
        upload_id: testId,
        bucket_upload_id: 'an-id',
        part_size: 16_777_216,
        replaces: null,
        abort_at: until,
      },
      ...{ storage_id: assetDescription.storage_id, object_key: assetDescription.object_key },
    },
  },
  { type: 'AssetMultipartAbortPutOff', data: { upload_id: testId, attempt: 2, abort_at: until } },
  { type: 'AssetMultipartEnded', data: { upload_id: testId, outcome: 'completed' } },
];

const bodyAfter = (...events: readonly AssetEvent[]) => {
  const document = foldEvents(assetsProjection, null, recordEvents(assetsProjection, 'example', events));
  return document === null || document === 'gap' ? null : (document.body as AssetDocument);
};

test('A check of an upload that is due, or was the last one, changes no document of an asset', (t) => {
  const body = bodyAfter(added);
  t.like(body, { upload: 'pending', updated_at: eventTime(0) });
  for (const event of unseen) givenProjection(assetsProjection, added, event).then(t, body);
  givenProjection(assetsProjection, added, ...unseen).then(t, body);
});

test('The outcome of a check changes the upload of an asset and the time of its change', (t) => {
  const missing: AssetEvent = { type: 'AssetUploadMissing', data: {} };
  const file = { size: assetDescription.size, entity_tag: 'a-tag', media_type: null, sha256: null };
  const verified: AssetEvent = { type: 'AssetUploadVerified', data: file };
  t.like(bodyAfter(added, verified), { upload: 'complete', object: file, updated_at: eventTime(1) });
  t.like(bodyAfter(added, verified, missing), {
    ...{ upload: 'pending', object: null, updated_at: eventTime(2) },
  });
});
