import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import {
  type AuthenticationMethod,
  type RefreshTokenRecord,
  type RevocationReason,
  type SessionEvent,
  type SessionStart,
  withMethod,
} from './events.js';

export type SessionState =
  | { readonly status: 'absent' }
  | StartedSession
  | {
      readonly status: 'revoked';
      readonly user_id: string;
      readonly reason: RevocationReason;
      /** The generation of the last refresh token. */
      readonly generation: number;
    };

/** `auth_time`: the last sign-in or reauthentication. */
export interface StartedSession extends Pick<
  SessionStart,
  'user_id' | 'epoch' | 'device_id' | 'auth_time' | 'expires_at'
> {
  readonly status: 'started';
  readonly amr: Readonly<SessionStart['amr']>;
  /** When each method was last proved by a sign-in or a reauthentication. */
  readonly provedAt: Readonly<Partial<Record<AuthenticationMethod, string>>>;
  readonly refresh: RefreshTokenState;
  /** The recently replaced tokens, oldest first; see `successorOf`. */
  readonly replaced: readonly RefreshTokenState[];
}

/** A refresh token of the session. */
export interface RefreshTokenState extends Readonly<RefreshTokenRecord> {
  /** Set if no predecessor was presented: the token derives from this. Null: from the predecessor, if any. */
  readonly link: string | null;
  /** The time of the event's command, which is that of the decision where other tokens are replaced. */
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
    ({ refresh_generation, refresh_token_digest }) =>
      refresh_generation === presented.generation && refresh_token_digest === presented.digest,
  );
  const successor = index < 0 ? undefined : known[index + 1];
  return successor !== undefined && isGood(known, index, now) ? successor : null;
}

export function evolve(state: SessionState, event: Evolving<SessionEvent>): SessionState {
  if (event.type === 'SessionStarted') return startedSession(event.data, new Date(event.time));
  if (state.status !== 'started') return state;
  switch (event.type) {
    case 'RefreshTokenRotated':
      return { ...state, ...replace(state, refreshTokenOf(event.data, null, new Date(event.time))) };
    case 'SessionStrengthened': {
      const { method, refresh } = event.data;
      const amr = withMethod(state.amr, method);
      if (refresh === null) return { ...state, amr };
      const issued = refreshTokenOf(refresh, refresh.link, new Date(event.time));
      return { ...state, amr, ...replace(state, issued) };
    }
    case 'SessionReauthenticated': {
      const { method, auth_time } = event.data;
      const provedAt = { ...state.provedAt, [method]: auth_time };
      return { ...state, amr: withMethod(state.amr, method), auth_time, provedAt };
    }
    case 'RefreshTokenReuseDetected':
      return state;
    case 'SessionRevoked': {
      const { user_id, refresh } = state;
      const { reason } = event.data;
      return { status: 'revoked', user_id, reason, generation: refresh.refresh_generation };
    }
  }
}

/** Returns a session that has just begun. */
export function startedSession(data: SessionStart, issuedAt: Date): StartedSession {
  const { user_id, epoch, device_id, amr, auth_time, expires_at } = data;
  return {
    ...{ status: 'started', user_id, epoch, device_id, amr, auth_time, expires_at },
    provedAt: Object.fromEntries(amr.map((method) => [method, auth_time])),
    refresh: refreshTokenOf(data, null, issuedAt),
    replaced: [],
  };
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
  if (end === undefined) return true;
  const ageMs = now.getTime() - end.issuedAt.getTime();
  // A time further ahead is of a clock that was set back since.
  return ageMs <= refreshGraceMs && ageMs >= -requestMsMax;
}

function refreshTokenOf(
  { refresh_generation, refresh_key_id, refresh_token_digest, idle_expires_at }: RefreshTokenRecord,
  link: string | null,
  issuedAt: Date,
): RefreshTokenState {
  return { refresh_generation, refresh_key_id, refresh_token_digest, idle_expires_at, link, issuedAt };
}
