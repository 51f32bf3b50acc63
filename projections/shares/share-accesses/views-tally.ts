import {
  shareAccessCodec,
  type ShareAccessEvent,
  shareAccessCategory,
} from '../../../src/areas/shares/domain/share-access/events.js';
import type { Tally } from '../../../src/event-sourcing/views/projection.js';

/** How often each share was opened, by share id. The share's own stream has no event of an opening without `max_uses`. */
export const shareViewsTally: Tally<ShareAccessEvent> = {
  name: 'share_views',
  version: 2,
  category: shareAccessCategory,
  codec: shareAccessCodec,
  indexes: [],
  changeOf: (event) => (event.type === 'ShareVerified' ? { total: event.data.share_id, bytes: 1 } : null),
};
