import type { Recorded } from '../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../src/event-sourcing/views/projection.js';
import {
  shareAccessCodec,
  type ShareAccessEvent,
  shareAccessCategory,
} from '../../src/domain/share-access/events.js';

export type ShareAccessDocument = {
  readonly share_id: string;
  readonly project_id: string;
  readonly client_ip_digest: string | null;
  readonly at: string;
};

function evolve(
  _document: ShareAccessDocument | null,
  event: Recorded<ShareAccessEvent>,
): ShareAccessDocument {
  return { ...event.data, at: event.time };
}

export const shareAccessesProjection: Projection<ShareAccessDocument, ShareAccessEvent> = {
  name: 'share_accesses',
  version: 1,
  category: shareAccessCategory,
  codec: shareAccessCodec,
  indexes: ['share_id'],
  evolve,
};
