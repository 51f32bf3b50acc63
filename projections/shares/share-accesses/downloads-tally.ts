import {
  shareAccessCodec,
  type ShareAccessEvent,
  shareAccessCategory,
} from '../../../src/areas/shares/domain/share-access/events.js';
import type { Tally } from '../../../src/event-sourcing/views/projection.js';

/** How often visitors saved an asset of each share, by share id: once for each asset and opening. */
export const shareDownloadsTally: Tally<ShareAccessEvent> = {
  name: 'share_downloads',
  version: 2,
  category: shareAccessCategory,
  codec: shareAccessCodec,
  indexes: [],
  changeOf: (event) => (event.type === 'ShareDownloaded' ? { total: event.data.share_id, bytes: 1 } : null),
};
