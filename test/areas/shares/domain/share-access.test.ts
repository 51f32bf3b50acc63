import type { ShareAccessEvent } from '../../../../src/areas/shares/domain/share-access/events.js';
import {
  savedAssetsMax,
  shareAccessAggregate,
} from '../../../../src/areas/shares/domain/share-access/share-access.js';
import { assetId, digest, otherTestId, projectId, shareId } from '../../../support/examples/ids.js';
import { testDecisions } from '../../../support/given/decisions.js';

const opened: ShareAccessEvent = {
  type: 'ShareVerified',
  data: { share_id: shareId, project_id: projectId, client_ip_digest: digest },
};
const saved = (asset_id: string): ShareAccessEvent => ({
  type: 'ShareDownloaded',
  data: { share_id: shareId, asset_id },
});
const save = { type: 'RecordDownload', share_id: shareId, asset_id: assetId } as const;

const all = Array.from({ length: savedAssetsMax }, (_, n) =>
  saved(`019b7d00-0000-7000-8000-${String(n).padStart(12, 'e')}`),
);
const record = { type: 'Record', ...opened.data } as const;

testDecisions(shareAccessAggregate, {
  'An access counts the download of each asset once': [
    [[opened], save, [saved(assetId)]],
    [[opened, saved(assetId)], save, []],
    [[opened, saved(otherTestId)], save, [saved(assetId)]],
  ],
  'A download without an opening does not count, nor do those of more assets than an access may save': [
    [[], save, []],
    [[opened, ...all.slice(1)], save, [saved(assetId)]],
    [[opened, ...all], save, []],
  ],
  'A download leaves the access recorded': [[[opened, saved(assetId)], record, []]],
});
