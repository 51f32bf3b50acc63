import type { Evolving } from '../../../../event-sourcing/deciding/decider.js';
import type { AuthenticationMethod, RevocationReason, SessionEvent } from './events.js';
import { withMethod } from './fold.js';

export type SessionState =
  | { readonly status: 'absent' }
  | StartedSession
  | {
      readonly status: 'revoked';
      readonly userId: string;
      readonly reason: RevocationReason;
      /** The generation of the last refresh token. */
      readonly generation: number;
    };

export interface StartedSession {
  readonly status: 'started';
  readonly userId: string;
  /** See `sessionHolds`. */
  readonly epoch: number;
  readonly device_id: string;
  readonly methods: readonly AuthenticationMethod[];
  /** The last sign-in or reauthentication. */
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  readonly refresh: RefreshTokenState;
  /** The recently replaced tokens, oldest first; see `successorOf`. */
  readonly replaced: readonly RefreshTokenState[];
}

/** A refresh token of the session. */
export interface RefreshTokenState {
  readonly generation: number;
  readonly keyId: string;
  readonly digest: string;
  /** Set if no predecessor was presented: the token derives from this. Null: from the predecessor, if any. */
  readonly link: string | null;
  readonly idleExpiresAt: Date;
  /** The store's recorded time. */
  readonly issuedAt: Date;
}

/** How long a replaced token outlives the first use of its successor (src/keys/README.md#refresh-tokens). */
export const refreshGraceMs = 10_000;

/** A request is judged by the time of its arrival, which may be this long ago. */
export const requestMsMax = 60_000;

/** A client's retries need fewer refreshes within 10 s. */
const replacedMax = 20;

/** Returns the token that replaced the presented one, while that one is good, else null. */
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
  return successor !== undefined && isGood(known, index, now) ? successor : null;
}

export function evolve(state: SessionState, event: Evolving<SessionEvent>): SessionState {
  if (event.type === 'SessionStarted') return startedSession(event.data, event.recordedAt);
  if (state.status !== 'started') return state;
  switch (event.type) {
    case 'RefreshTokenRotated':
      return { ...state, ...replace(state, refreshTokenOf(event.data, null, event.recordedAt)) };
    case 'SessionStrengthened': {
      const { method, refresh } = event.data;
      const methods = withMethod(state.methods, method);
      if (refresh === null) return { ...state, methods };
      const issued = refreshTokenOf(refresh, refresh.link, event.recordedAt);
      return { ...state, methods, ...replace(state, issued) };
    }
    case 'SessionReauthenticated': {
      const { method, auth_time } = event.data;
      return {
        ...state,
        methods: withMethod(state.methods, method),
        authenticatedAt: new Date(auth_time),
      };
    }
    case 'RefreshTokenReuseDetected':
      return state;
    case 'SessionRevoked': {
      const { userId, refresh } = state;
      return { status: 'revoked', userId, reason: event.data.reason, generation: refresh.generation };
    }
  }
}

/** Returns a session that has just begun. @param issuedAt the store's recorded time, where the age of its token matters */
export function startedSession(
  data: Extract<SessionEvent, { type: 'SessionStarted' }>['data'],
  issuedAt: Date,
): StartedSession {
  return {
    status: 'started',
    userId: data.user_id,
    epoch: data.epoch,
    device_id: data.device_id,
    methods: data.amr,
    authenticatedAt: new Date(data.auth_time),
    expiresAt: new Date(data.expires_at),
    refresh: refreshTokenOf(data, null, issuedAt),
    replaced: [],
  };
}

interface RefreshTokenData {
  readonly refresh_generation: number;
  readonly refresh_key_id: string;
  readonly refresh_token_digest: string;
  readonly idle_expires_at: string;
}

/** Replaces the token. Earlier tokens stay while a request under way may present them within their grace. */
function replace(
  { refresh, replaced }: StartedSession,
  issued: RefreshTokenState,
): Pick<StartedSession, 'refresh' | 'replaced'> {
  const known = [...replaced, refresh, issued];
  const requestedAt = new Date(issued.issuedAt.getTime() - requestMsMax);
  const good = known.slice(0, -1).filter((_, index) => isGood(known, index, requestedAt));
  return { refresh: issued, replaced: good.slice(-replacedMax) };
}

/**
 * Whether a replaced token still gets its successor. The reply of a refresh may get lost, and only the use of the successor
 * shows that it did not. A second factor replaces tokens of clients that have not passed it, so nothing is waited for there.
 */
function isGood(known: readonly RefreshTokenState[], index: number, now: Date): boolean {
  const successor = known[index + 1];
  const end = successor?.link == null ? known[index + 2] : successor;
  return end === undefined || now.getTime() - end.issuedAt.getTime() <= refreshGraceMs;
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
