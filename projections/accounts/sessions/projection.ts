import type { Recorded, Sealed } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  type AuthenticationMethod,
  sessionCategory,
  sessionCodec,
  type SessionEvent,
  withMethod,
} from '../../../src/areas/accounts/domain/session/events.js';

/** A session that is not revoked. Only the log decides on refresh tokens, so the document contains none. */
export type SessionDocument = {
  readonly user_id: string;
  readonly epoch: number;
  readonly amr: readonly AuthenticationMethod[];
  /** When the user last signed in or authenticated again. */
  readonly auth_time: string;
  /** When the user last proved a mailed code here; null: never. */
  readonly email_code_at: string | null;
  /** When the session last passed a second factor: TOTP, a passkey or a recovery code. */
  readonly strengthened_at: string | null;
  /** When it last passed a passkey or a recovery code. */
  readonly passkey_at: string | null;
  /** The end of the session unless it is used again. */
  readonly idle_expires_at: string;
  /** The latest end of the session. */
  readonly expires_at: string;
  /** Sealed for the person. */
  readonly user_agent: Sealed | null;
  /** When the session last got tokens. */
  readonly last_used_at: string;
  readonly created_at: string;
};

function evolve(document: SessionDocument | null, event: Recorded<SessionEvent>): SessionDocument | null {
  if (event.type === 'SessionStarted') {
    const { user_id, epoch, amr, auth_time, idle_expires_at, expires_at, user_agent } = event.data;
    return {
      ...{ user_id, epoch, amr, auth_time, idle_expires_at, expires_at, user_agent },
      email_code_at: amr.includes('email') ? auth_time : null,
      // A passkey with user verification counts as both factors.
      strengthened_at: amr.includes('passkey') ? auth_time : null,
      passkey_at: amr.includes('passkey') ? auth_time : null,
      last_used_at: event.time,
      created_at: event.time,
    };
  }
  if (document === null) return null;
  switch (event.type) {
    case 'RefreshTokenRotated':
      return { ...document, idle_expires_at: event.data.idle_expires_at, last_used_at: event.time };
    case 'SessionStrengthened': {
      const { method, refresh } = event.data;
      return {
        ...document,
        amr: withMethod(document.amr, method),
        strengthened_at: event.time,
        passkey_at: method === 'otp' ? document.passkey_at : event.time,
        idle_expires_at: refresh?.idle_expires_at ?? document.idle_expires_at,
        last_used_at: event.time,
      };
    }
    case 'SessionReauthenticated': {
      const { method, auth_time } = event.data;
      return {
        ...document,
        amr: withMethod(document.amr, method),
        auth_time,
        email_code_at: method === 'email' ? auth_time : document.email_code_at,
        ...(method === 'passkey' && { strengthened_at: auth_time, passkey_at: auth_time }),
      };
    }
    case 'RefreshTokenReuseDetected':
      return document;
    case 'SessionRevoked':
      return null;
  }
}

export const sessionsProjection: Projection<SessionDocument, SessionEvent> = {
  name: 'sessions',
  version: 5,
  category: sessionCategory,
  codec: sessionCodec,
  indexes: ['user_id'],
  evolve,
};
