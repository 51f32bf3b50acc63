import test from 'ava';
import type { AssetState, ExistingAsset } from '../../../../src/areas/assets/domain/asset/asset.js';
import type { PendingDeletion } from '../../../../src/areas/assets/domain/asset/deletion.js';
import { deletionClaim, holdOn } from '../../../../src/areas/assets/domain/asset/held-object.js';
import { assetDescription } from '../../../support/examples/asset.js';
import { storageId } from '../../../support/examples/ids.js';
import { partial } from '../../../support/fakes/partial.js';

const absent: AssetState = { status: 'absent' };
const existing = partial<ExistingAsset>({ status: 'existing', lastCommands: ['ended'], ...assetDescription });
const removed: AssetState = { status: 'removed', multipart: null, deletion: null };
const deletion = partial<PendingDeletion>({ storage_id: storageId, object_keys: ['2026/rhine.mp4'] });
const deleting: AssetState = { ...removed, deletion };
const video = { storageId, key: '2026/rhine.mp4' };
const image = { storageId, key: '2026/rhine.jpg' };
const other = { storageId, key: 'other.mp4' };
const elsewhere = { storageId: '019b7d00-0000-7000-8000-000000000022', key: '2026/rhine.mp4' };

const rows: readonly [string, AssetState, typeof video, string | null, 'has' | 'deletes' | null][] = [
  ['An asset that its command is adding has the claimed object', absent, video, 'adding', 'has'],
  ['An asset that was never added has nothing', absent, video, null, null],
  ['An asset has its own file', existing, video, null, 'has'],
  ['An asset has the file of a rendition', existing, image, null, 'has'],
  ['An asset does not have another object', existing, other, null, null],
  ['An asset does not have an object of another storage', existing, elsewhere, null, null],
  ['An asset has an object that its running command has claimed', existing, other, 'running', 'has'],
  ['An asset does not have what a command that has ended claimed', existing, other, 'ended', null],
  ['A removed asset deletes its object', deleting, video, null, 'deletes'],
  ['A removed asset does not delete another object', deleting, other, null, null],
  ['A removed asset does not delete an object of another storage', deleting, elsewhere, null, null],
  ['A removed asset deletes what is claimed for a deletion', removed, video, deletionClaim, 'deletes'],
  ['A removed asset does not have what a command claimed', removed, video, 'late', null],
];

for (const [title, state, object, claimedBy, expected] of rows)
  test(title, (t) => t.is(holdOn(state, object, claimedBy), expected));
