import type { Evolving } from '../../event-sourcing/decider.js';
import type { AuthenticationMethod, RevocationReason, SessionEvent } from './events.js';

export type SessionState =
  | { readonly status: 'absent' }
  | StartedSession
  | {
      readonly status: 'revoked';
      readonly userId: string;
      readonly reason: RevocationReason;
      /** That of the last refresh token. */
      readonly generation: number;
    };

export interface StartedSession {
  readonly status: 'started';
  readonly userId: string;
  /** See `sessionHolds`. */
  readonly epoch: number;
  readonly methods: readonly AuthenticationMethod[];
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  readonly refresh: RefreshTokenState;
  /** Those that were replaced not long ago, oldest first; see `successorOf`. */
  readonly replaced: readonly RefreshTokenState[];
}

/** A refresh token of the session. */
export interface RefreshTokenState {
  readonly generation: number;
  readonly keyId: string;
  readonly digest: string;
  /** What it was derived from where no predecessor was presented; null: from its predecessor (none for the first). */
  readonly link: string | null;
  readonly idleExpiresAt: Date;
  /** The store's recorded time. */
  readonly issuedAt: Date;
}

/** How long a replaced refresh token is still answered with its successor (DESIGN 3, Refresh tokens). */
export const refreshGraceMs = 10_000;

/** A request is judged by when it came, and may be decided that much later. */
export const requestMsMax = 60_000;

/** More refreshes than this within the grace are no client's retries. */
const replacedMax = 20;

/** The token that replaced the presented one, if it did so no longer ago than the grace; else null. */
export function successorOf(
  { refresh, replaced }: StartedSession,
  presented: { readonly generation: number; readonly digest: string },
  now: Date,
): RefreshTokenState | null {
  const known = [...replaced, refresh];
  const index = known.findIndex(
    ({ generation, digest }) => generation === presented.generation && digest === presented.digest,
  );
  const successor = index < 0 ? undefined : known[index + 1];
  if (successor === undefined || !isWithinGrace(successor, now)) return null;
  return successor;
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
      refresh: refreshTokenOf(data, null, event.recordedAt),
      replaced: [],
    };
  }
  if (state.status !== 'started') return state;
  switch (event.type) {
    case 'RefreshTokenRotated':
      return { ...state, ...replace(state, refreshTokenOf(event.data, null, event.recordedAt)) };
    case 'SessionStrengthened': {
      const { method, refresh } = event.data;
      const methods = state.methods.includes(method) ? state.methods : [...state.methods, method];
      if (refresh === null) return { ...state, methods };
      const issued = refreshTokenOf(refresh, refresh.link, event.recordedAt);
      return { ...state, methods, ...replace(state, issued) };
    }
    case 'RefreshTokenReuseDetected':
      return state;
    case 'SessionRevoked': {
      const { userId, refresh } = state;
      return { status: 'revoked', userId, reason: event.data.reason, generation: refresh.generation };
    }
  }
}

interface RefreshTokenData {
  readonly refresh_generation: number;
  readonly refresh_key_id: string;
  readonly refresh_token_digest: string;
  readonly idle_expires_at: string;
}

/** The present token gives way; of those before it stay the ones that a request under way may still present within the grace. */
function replace(
  { refresh, replaced }: StartedSession,
  issued: RefreshTokenState,
): Pick<StartedSession, 'refresh' | 'replaced'> {
  const known = [...replaced, refresh];
  const requestedAt = new Date(issued.issuedAt.getTime() - requestMsMax);
  const remembered = known.filter((_, index) => isWithinGrace(known[index + 1] ?? issued, requestedAt));
  return { refresh: issued, replaced: remembered.slice(-replacedMax) };
}

function isWithinGrace(successor: RefreshTokenState, now: Date): boolean {
  return now.getTime() - successor.issuedAt.getTime() <= refreshGraceMs;
}

function refreshTokenOf(data: RefreshTokenData, link: string | null, issuedAt: Date): RefreshTokenState {
  return {
    generation: data.refresh_generation,
    keyId: data.refresh_key_id,
    digest: data.refresh_token_digest,
    link,
    idleExpiresAt: new Date(data.idle_expires_at),
    issuedAt,
  };
}
