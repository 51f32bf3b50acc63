import type { Evolving } from '../../event-sourcing/decider.js';
import type { AuthenticationMethod, RevocationReason, SessionEvent } from './events.js';

export type SessionState =
  | { readonly status: 'absent' }
  | StartedSession
  | { readonly status: 'revoked'; readonly userId: string; readonly reason: RevocationReason };

export interface StartedSession {
  readonly status: 'started';
  readonly userId: string;
  /** See `sessionHolds`. */
  readonly epoch: number;
  readonly methods: readonly AuthenticationMethod[];
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  readonly refresh: RefreshTokenState;
}

/** The session's refresh token and the one before. */
export interface RefreshTokenState {
  readonly generation: number;
  readonly keyId: string;
  readonly digest: string;
  /** What it was derived from where no predecessor was presented; null: from its predecessor (none for the first). */
  readonly link: string | null;
  readonly idleExpiresAt: Date;
  /** The store's recorded time. */
  readonly issuedAt: Date;
  readonly predecessorDigest: string | null;
}

export function evolve(state: SessionState, event: Evolving<SessionEvent>): SessionState {
  if (event.type === 'SessionStarted') {
    const { data } = event;
    return {
      status: 'started',
      userId: data.user_id,
      epoch: data.epoch,
      methods: data.amr,
      authenticatedAt: new Date(data.auth_time),
      expiresAt: new Date(data.expires_at),
      refresh: refreshTokenOf(data, { link: null, predecessorDigest: null, issuedAt: event.recordedAt }),
    };
  }
  if (state.status !== 'started') return state;
  switch (event.type) {
    case 'RefreshTokenRotated':
      return { ...state, refresh: successor(state, event.data, null, event.recordedAt) };
    case 'SessionStrengthened': {
      const { method, refresh } = event.data;
      const methods = state.methods.includes(method) ? state.methods : [...state.methods, method];
      if (refresh === null) return { ...state, methods };
      return { ...state, methods, refresh: successor(state, refresh, refresh.link, event.recordedAt) };
    }
    case 'RefreshTokenReuseDetected':
      return state;
    case 'SessionRevoked':
      return { status: 'revoked', userId: state.userId, reason: event.data.reason };
  }
}

interface RefreshTokenData {
  readonly refresh_generation: number;
  readonly refresh_key_id: string;
  readonly refresh_token_digest: string;
  readonly idle_expires_at: string;
}

function successor(
  { refresh }: StartedSession,
  data: RefreshTokenData,
  link: string | null,
  issuedAt: Date,
): RefreshTokenState {
  return refreshTokenOf(data, { link, predecessorDigest: refresh.digest, issuedAt });
}

function refreshTokenOf(
  data: RefreshTokenData,
  rest: Pick<RefreshTokenState, 'link' | 'predecessorDigest' | 'issuedAt'>,
): RefreshTokenState {
  return {
    generation: data.refresh_generation,
    keyId: data.refresh_key_id,
    digest: data.refresh_token_digest,
    idleExpiresAt: new Date(data.idle_expires_at),
    ...rest,
  };
}
