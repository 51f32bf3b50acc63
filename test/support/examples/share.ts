import { shareCodec } from '../../../src/areas/shares/domain/share/events.js';
import type { ShareCommand } from '../../../src/areas/shares/domain/share/share.js';
import type { StoredTerms } from '../../../src/areas/shares/domain/share/fold.js';
import { anEvent } from './event.js';
import { accessId, assetId, digest, projectId, userId } from './ids.js';
import { sealedExample } from './sealed.js';

/** A share that opens at most twice, until March. */
export const createShare = {
  type: 'Create',
  projectId,
  assetIds: [assetId],
  tag: null,
  token: sealedExample('the token'),
  tokenDigest: digest,
  passwordHash: sealedExample('the hash'),
  passwordClass: 'long',
  expiresAt: new Date('2026-03-01T00:00:00.000Z'),
  maxUses: 2,
  allowDownload: true,
  title: sealedExample('the title'),
  note: null,
  frameAncestors: ['https://www.example.com'],
  notifySharer: true,
  showSender: false,
  createdBy: userId,
} as const satisfies ShareCommand;

export const shareCreated = anEvent(shareCodec, 'ShareCreated', {
  project_id: projectId,
  asset_id: assetId,
  more_asset_ids: [],
  tag: null,
  token: createShare.token,
  token_digest: digest,
  password_hash: createShare.passwordHash,
  password_class: createShare.passwordClass,
  expires_at: '2026-03-01T00:00:00.000Z',
  max_uses: 2,
  allow_download: true,
  title: createShare.title,
  note: null,
  frame_ancestors: ['https://www.example.com'],
  notify_sharer: true,
  show_sender: false,
  created_by: userId,
});
export const shareUsed = anEvent(shareCodec, 'ShareUsed', { access_id: accessId });
export const shareRevoked = anEvent(shareCodec, 'ShareRevoked', {});

/** Terms without any limit, text or notice. */
export const freeTerms: StoredTerms = anEvent(shareCodec, 'ShareChanged', {
  ...{ expires_at: null, max_uses: null, allow_download: true, title: null, note: null },
  ...{ frame_ancestors: [], notify_sharer: false, show_sender: false },
}).data;
