import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection, Tally } from '../../../src/event-sourcing/views/projection.js';
import {
  type ShareAccessEvent,
  shareAccessCategory,
  shareAccessCodec,
} from '../../../src/areas/shares/domain/share-access/events.js';

/** How often each share was opened, by share id. The share's own stream has no event of an opening without `max_uses`. */
export const shareViewsTally = countOf('share_views', 'ShareVerified');

/** How often visitors saved an asset of each share, by share id: once for each asset and opening. */
export const shareDownloadsTally = countOf('share_downloads', 'ShareDownloaded');

function countOf(name: string, counted: ShareAccessEvent['type']): Tally<ShareAccessEvent> {
  return {
    ...{ name, version: 2, category: shareAccessCategory, codec: shareAccessCodec, indexes: [] },
    changeOf: ({ type, data }) => (type === counted ? { total: data.share_id, bytes: 1 } : null),
  };
}

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
