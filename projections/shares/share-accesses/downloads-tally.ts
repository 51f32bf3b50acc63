import {
  shareAccessCodec,
  type ShareAccessEvent,
  shareAccessCategory,
} from '../../../src/areas/shares/domain/share-access/events.js';
import { streamIdOf } from '../../../src/event-sourcing/ports/stream-name.js';
import type { Tally } from '../../../src/event-sourcing/views/projection.js';

/** How often visitors saved an asset of each share, by share id: once for each asset and opening. */
export const shareDownloadsTally: Tally<ShareAccessEvent> = {
  name: 'share_downloads',
  version: 1,
  category: shareAccessCategory,
  codec: shareAccessCodec,
  indexes: [],
  changeOf: (event) =>
    event.type === 'ShareDownloaded'
      ? { total: event.data.share_id, entry: `${streamIdOf(event)}/${event.data.asset_id}`, bytes: 1 }
      : null,
};
