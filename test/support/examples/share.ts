import { shareCodec, type ShareTerms } from '../../../src/areas/shares/domain/share/events.js';
import type { ShareCommand } from '../../../src/areas/shares/domain/share/share.js';
import { defaultTerms } from '../../../src/areas/shares/domain/share/terms.js';
import { anEvent } from './event.js';
import { accessId, assetId, digest, projectId, userId } from './ids.js';
import { sealedExample } from './sealed.js';

/** At most two openings, until March. */
export const createdTerms: ShareTerms = {
  ...defaultTerms,
  expires_at: '2026-03-01T00:00:00.000Z',
  max_uses: 2,
  title: sealedExample('the title'),
  frame_ancestors: ['https://www.example.com'],
};

export const shareCreated = anEvent(shareCodec, 'ShareCreated', {
  project_id: projectId,
  asset_ids: [assetId],
  tag: null,
  token: sealedExample('the token'),
  token_digest: digest,
  password_hash: sealedExample('the hash'),
  password_class: 'long',
  ...createdTerms,
  created_by: userId,
});
export const createShare = { type: 'Create', share: shareCreated.data } as const satisfies ShareCommand;
export const shareUsed = anEvent(shareCodec, 'ShareUsed', { access_id: accessId });
export const shareRevoked = anEvent(shareCodec, 'ShareRevoked', {});

/** Terms without any limit, text or notice. */
export const freeTerms: ShareTerms = { ...defaultTerms, notify_sharer: false };
