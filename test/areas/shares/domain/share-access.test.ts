import test from 'ava';
import type { ShareAccessEvent } from '../../../../src/areas/shares/domain/share-access/events.js';
import {
  savedAssetsMax,
  shareAccessAggregate,
} from '../../../../src/areas/shares/domain/share-access/share-access.js';
import { assetId, digest, otherTestId, projectId, shareId } from '../../../support/examples/ids.js';
import { given } from '../../../support/given/given.js';

const opened: ShareAccessEvent = {
  type: 'ShareVerified',
  data: { share_id: shareId, project_id: projectId, client_ip_digest: digest },
};
const saved = (asset_id: string): ShareAccessEvent => ({
  type: 'ShareDownloaded',
  data: { share_id: shareId, asset_id },
});
const save = { type: 'RecordDownload', share_id: shareId, asset_id: assetId } as const;

test('An access counts the download of each asset once', (t) => {
  given(shareAccessAggregate, opened).when(save).then(t, saved(assetId));
  given(shareAccessAggregate, opened, saved(assetId)).when(save).then(t);
  given(shareAccessAggregate, opened, saved(otherTestId)).when(save).then(t, saved(assetId));
});

test('A download without an opening does not count, nor do those of more assets than an access may save', (t) => {
  given(shareAccessAggregate).when(save).then(t);
  const all = Array.from({ length: savedAssetsMax }, (_, n) =>
    saved(`019b7d00-0000-7000-8000-${String(n).padStart(12, 'e')}`),
  );
  given(shareAccessAggregate, opened, ...all.slice(1))
    .when(save)
    .then(t, saved(assetId));
  given(shareAccessAggregate, opened, ...all)
    .when(save)
    .then(t);
});

test('A download leaves the access recorded', (t) => {
  const record = { type: 'Record', ...opened.data } as const;
  given(shareAccessAggregate, opened, saved(assetId)).when(record).then(t);
});
