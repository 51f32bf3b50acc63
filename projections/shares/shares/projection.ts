import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import type { Sealed } from '../../../src/event-sourcing/ports/sealed.js';
import { shareCodec, type ShareEvent, shareCategory } from '../../../src/areas/shares/domain/share/events.js';
import {
  applyEvent,
  chosenAssets,
  newShare,
  type ShareFields,
} from '../../../src/areas/shares/domain/share/fold.js';

/** A share without its password hash, which only the log contains. */
export type ShareDocument = ShareFields & {
  readonly project_id: string;
  /** The chosen assets in order; none for a share of a tag. */
  readonly asset_ids: readonly string[];
  readonly tag: string | null;
  readonly password_required: boolean;
  /** Sealed for the share. */
  readonly token: Sealed;
  readonly token_digest: string;
  readonly throttled_at: string | null;
  readonly created_by: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: ShareDocument | null, event: Recorded<ShareEvent>): ShareDocument | null {
  if (event.type === 'ShareCreated') {
    const { data } = event;
    return {
      project_id: data.project_id,
      asset_ids: chosenAssets(data),
      tag: data.tag,
      password_required: data.password_hash !== null,
      token: data.token,
      token_digest: data.token_digest,
      ...newShare(data),
      created_by: data.created_by,
      throttled_at: null,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null || event.type === 'ShareRevoked') return null;
  const after = { ...document, ...applyEvent(document, event) };
  switch (event.type) {
    case 'ShareChanged':
      return { ...after, updated_at: event.time };
    case 'SharePasswordChanged':
      return { ...after, password_required: event.data.password_hash !== null, updated_at: event.time };
    case 'ShareUsed':
    case 'ShareGuessingLimitReached':
      return after;
    case 'ShareVerificationThrottled':
      return { ...after, throttled_at: event.time };
  }
}

export const sharesProjection: Projection<ShareDocument, ShareEvent> = {
  name: 'shares',
  version: 3,
  category: shareCategory,
  codec: shareCodec,
  indexes: ['project_id', 'asset_ids', 'token_digest'],
  evolve,
};
