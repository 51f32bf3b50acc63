import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  shareAccessCodec,
  type ShareAccessEvent,
  shareAccessCategory,
} from '../../../src/areas/shares/domain/share-access/events.js';

export type ShareAccessDocument = {
  readonly share_id: string;
  readonly project_id: string;
  readonly client_ip_digest: string | null;
  readonly at: string;
  /** Assets that the visitor saved. */
  readonly downloads: number;
};

function evolve(
  document: ShareAccessDocument | null,
  event: Recorded<ShareAccessEvent>,
): ShareAccessDocument | null {
  if (event.type === 'ShareVerified') return { ...event.data, at: event.time, downloads: 0 };
  return document === null ? null : { ...document, downloads: document.downloads + 1 };
}

export const shareAccessesProjection: Projection<ShareAccessDocument, ShareAccessEvent> = {
  name: 'share_accesses',
  version: 2,
  category: shareAccessCategory,
  codec: shareAccessCodec,
  indexes: ['share_id'],
  evolve,
};
