import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { shareCodec, type ShareEvent, shareCategory } from '../../../src/areas/shares/domain/share/events.js';
import { applyEvent, newShare, type ShareFields } from '../../../src/areas/shares/domain/share/fold.js';

/** A share without its password hash, which only the log contains. */
export type ShareDocument = ShareFields & {
  readonly password_required: boolean;
  readonly throttled_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: ShareDocument | null, event: Recorded<ShareEvent>): ShareDocument | null {
  if (event.type === 'ShareCreated') {
    const password_required = event.data.password_hash !== null;
    const times = { throttled_at: null, created_at: event.time, updated_at: event.time };
    return { ...newShare(event.data), password_required, ...times };
  }
  if (document === null || event.type === 'ShareRevoked') return null;
  const after = { ...document, ...applyEvent(document, event) };
  switch (event.type) {
    case 'ShareChanged':
      return { ...after, updated_at: event.time };
    case 'SharePasswordChanged':
      return { ...after, password_required: event.data.password_hash !== null, updated_at: event.time };
    case 'ShareVerificationThrottled':
      return { ...after, throttled_at: event.time };
    case 'ShareUsed':
    case 'ShareGuessingLimitReached':
      return after;
  }
}

export const sharesProjection: Projection<ShareDocument, ShareEvent> = {
  name: 'shares',
  version: 4,
  category: shareCategory,
  codec: shareCodec,
  indexes: ['project_id', 'asset_ids', 'token_digest'],
  evolve,
};
