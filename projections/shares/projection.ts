import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import type { Sealed } from '../../src/event-sourcing/sealed.js';
import { shareCodec, type ShareEvent } from '../../src/domain/share/events.js';
import { shareCategory } from '../../src/domain/share/stream.js';

/** The password's hash stays in the log. */
export type ShareDocument = {
  readonly project_id: string;
  readonly asset_id: string;
  /** Sealed for the share. */
  readonly token: Sealed;
  readonly token_digest: string;
  readonly password_generation: number;
  readonly expires_at: string | null;
  readonly max_uses: number | null;
  /** Counted where `max_uses` is set. */
  readonly uses: number;
  readonly allow_download: boolean;
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
      asset_id: data.asset_id,
      token: data.token,
      token_digest: data.token_digest,
      expires_at: data.expires_at,
      max_uses: data.max_uses,
      allow_download: data.allow_download,
      created_by: data.created_by,
      password_generation: 1,
      uses: 0,
      throttled_at: null,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null) return null;
  switch (event.type) {
    case 'ShareChanged':
      return { ...document, ...event.data, updated_at: event.time };
    case 'SharePasswordChanged':
      return {
        ...document,
        password_generation: document.password_generation + 1,
        updated_at: event.time,
      };
    case 'ShareUsed':
      return { ...document, uses: document.uses + 1 };
    case 'ShareVerificationThrottled':
      return { ...document, throttled_at: event.time };
    case 'ShareRevoked':
      return null;
  }
}

export const sharesProjection: Projection<ShareDocument, ShareEvent> = {
  name: 'shares',
  version: 1,
  category: shareCategory,
  codec: shareCodec,
  indexes: ['project_id', 'asset_id', 'token_digest'],
  evolve,
};
