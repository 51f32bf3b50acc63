import test from 'ava';
import { assetAggregate } from '../../src/domain/asset/asset.js';
import type { AssetEvent } from '../../src/domain/asset/events.js';
import { projectId, storageId } from '../support/examples/ids.js';
import { given } from '../support/given.js';

const description = {
  project_id: projectId,
  storage_id: storageId,
  name: 'Rhine at dawn',
  object_key: '2026/rhine.mp4',
  media_type: 'video/mp4',
  size: 1_048_576,
  renditions: [{ kind: 'thumbnail', object_key: '2026/rhine.jpg', media_type: 'image/jpeg' }],
};
const added: AssetEvent = { type: 'AssetAdded', data: description };
const removed: AssetEvent = { type: 'AssetRemoved', data: {} };

test('An asset is added once', (t) => {
  given(assetAggregate).when({ type: 'Add', description }).then(t, added);
});

test('An asset is renamed', (t) => {
  const rename = { type: 'Rename', name: 'Rhine at dusk' } as const;
  given(assetAggregate, added)
    .when(rename)
    .then(t, { type: 'AssetRenamed', data: { name: rename.name } });
  given(assetAggregate, added, removed).when(rename).thenRejected(t, 'asset_not_found');
});

test('An asset is removed once', (t) => {
  given(assetAggregate, added).when({ type: 'Remove' }).then(t, removed);
  given(assetAggregate).when({ type: 'Remove' }).thenRejected(t, 'asset_not_found');
});
