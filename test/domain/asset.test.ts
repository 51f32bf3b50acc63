import test from 'ava';
import { assetAggregate } from '../../src/domain/asset/asset.js';
import type { AssetEvent } from '../../src/domain/asset/events.js';
import { assetDescription as description } from '../support/examples/asset.js';
import { given } from '../support/given.js';

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
