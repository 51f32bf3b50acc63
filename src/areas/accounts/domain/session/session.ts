import { decideBy, defineAggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import { isFresh } from '../guard.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';
import {
  type AuthenticationMethod,
  type RefreshTokenRecord,
  type RevocationReason,
  type SessionEvent,
  type SessionStart,
  sessionEvents,
} from './events.js';
import { evolve, type SessionState, type StartedSession, successorOf } from './state.js';

export type SessionRejection =
  | 'session_not_found'
  /** The session was revoked or has expired. */
  | 'session_over'
  /** The refresh token does not belong to the session. */
  | 'refresh_token_unknown'
  /** The refresh token came back after the grace of its replacement. The session has ended. */
  | 'refresh_token_reused'
  /** The session's refresh token is not the one that the caller expected. */
  | 'refresh_token_superseded';

export function rejectSession(code: SessionRejection, message: string): never {
  throw new CommandRejected<SessionRejection>(code, message);
}

export { refreshGraceMs, requestMsMax, successorOf } from './state.js';
export type { RefreshTokenState, SessionState, StartedSession } from './state.js';

type SessionCommand =
  | { readonly type: 'Start'; readonly start: SessionStart }
  | {
      readonly type: 'Refresh';
      /** The caller has verified that the service made this token. */
      readonly presented: { readonly generation: number; readonly digest: string };
      readonly successor: RefreshTokenRecord;
      readonly now: Date;
    }
  | {
      readonly type: 'Strengthen';
      readonly method: AuthenticationMethod;
      /** A new refresh token, or null to issue none; see `SessionStrengthened`. */
      readonly refresh: (RefreshTokenRecord & { readonly link: string }) | null;
      readonly now: Date;
    }
  /** The caller has verified the user's credential. */
  | { readonly type: 'Reauthenticate'; readonly method: AuthenticationMethod; readonly now: Date }
  | { readonly type: 'Revoke'; readonly reason: RevocationReason };

const initialState: SessionState = { status: 'absent' };

const decide = decideBy<SessionCommand, SessionState, SessionEvent>({
  Start: (command, state) => {
    // The id derives from the command, so an earlier attempt made the existing session.
    return state.status === 'absent' ? [{ type: 'SessionStarted', data: command.start }] : [];
  },
  Refresh: (command, state) => refresh(command, state),
  Strengthen: (command, state) => strengthen(command, running(state, command.now)),
  Reauthenticate: (command, state) => reauthenticate(command, running(state, command.now)),
  Revoke: (command, state) => revoke(command.reason, state),
});

/**
 * Replaces the current token. For a replaced token that is good it appends nothing, and the caller answers with the same
 * successor. Any other earlier token ends the session, with `RefreshTokenReuseDetected` among the events.
 */
function refresh(
  { presented, successor, now }: Extract<SessionCommand, { type: 'Refresh' }>,
  state: SessionState,
): readonly SessionEvent[] {
  const session = running(state, now);
  const current = session.refresh;
  if (presented.generation === current.refresh_generation) {
    if (presented.digest !== current.refresh_token_digest) unknownToken();
    if (successor.refresh_generation !== current.refresh_generation + 1) unknownToken();
    return [{ type: 'RefreshTokenRotated', data: successor }];
  }
  if (presented.generation > current.refresh_generation) unknownToken();
  if (successorOf(session, presented, now) !== null) return [];
  return [
    { type: 'RefreshTokenReuseDetected', data: { refresh_generation: presented.generation } },
    { type: 'SessionRevoked', data: { reason: 'refresh_token_reused' } },
  ];
}

function strengthen(
  { method, refresh: issued }: Extract<SessionCommand, { type: 'Strengthen' }>,
  session: StartedSession,
): readonly SessionEvent[] {
  if (issued === null) return [{ type: 'SessionStrengthened', data: { method, refresh: null } }];
  // A repetition, because the link derives from the command.
  if (session.refresh.link === issued.link) return [];
  if (issued.refresh_generation !== session.refresh.refresh_generation + 1)
    rejectSession('refresh_token_superseded', 'the session has another refresh token by now');
  return [{ type: 'SessionStrengthened', data: { method, refresh: issued } }];
}

function reauthenticate(
  { method, now }: Extract<SessionCommand, { type: 'Reauthenticate' }>,
  { auth_time: before, provedAt }: StartedSession,
): readonly SessionEvent[] {
  // A time further ahead is of a clock that was set back since: it would count until it has passed.
  const isLater = (at: string): boolean => new Date(at) >= now && isFresh(new Date(at), now);
  // A repetition, or an attempt that a later one with the same method has overtaken.
  const proved = provedAt[method];
  if (proved !== undefined && isLater(proved)) return [];
  // Another proof may be later by its process's clock. The session stays as fresh as that.
  const auth_time = isLater(before) ? before : now.toISOString();
  return [{ type: 'SessionReauthenticated', data: { method, auth_time } }];
}

function revoke(reason: RevocationReason, state: SessionState): readonly SessionEvent[] {
  switch (state.status) {
    case 'absent':
      return rejectSession('session_not_found', 'there is no such session');
    case 'started':
      return [{ type: 'SessionRevoked', data: { reason } }];
    case 'revoked':
      return [];
  }
}

function running(state: SessionState, now: Date): StartedSession {
  if (state.status === 'absent') return rejectSession('session_not_found', 'there is no such session');
  if (state.status === 'revoked') return rejectSession('session_over', 'the session has ended');
  if (new Date(state.expires_at) <= now || new Date(state.refresh.idle_expires_at) <= now)
    return rejectSession('session_over', 'the session has expired');
  return state;
}

function unknownToken(): never {
  return rejectSession('refresh_token_unknown', 'the refresh token is none of the session');
}

export const sessionAggregate = defineAggregate(sessionEvents, { initialState, decide, evolve });
