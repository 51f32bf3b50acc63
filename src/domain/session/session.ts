import type { Aggregate } from '../../event-sourcing/decider.js';
import { type RevocationReason, sessionCodec, type SessionEvent, type SessionStart } from './events.js';
import { rejectSession } from './rejections.js';
import { sessionCategory } from './stream.js';

export type SessionState =
  | { readonly status: 'absent' }
  | { readonly status: 'started'; readonly start: SessionStart }
  | { readonly status: 'revoked' };

export type SessionCommand =
  | { readonly type: 'Start'; readonly start: SessionStart }
  | { readonly type: 'Revoke'; readonly reason: RevocationReason };

const initialState: SessionState = { status: 'absent' };

function evolve(_state: SessionState, event: SessionEvent): SessionState {
  switch (event.type) {
    case 'SessionStarted':
      return { status: 'started', start: event.data };
    case 'SessionRevoked':
      return { status: 'revoked' };
  }
}

function decide(command: SessionCommand, state: SessionState): readonly SessionEvent[] {
  switch (command.type) {
    case 'Start':
      // A session's id is made from the command that starts it, so one that exists is what an earlier try has made.
      return state.status === 'absent' ? [{ type: 'SessionStarted', data: command.start }] : [];
    case 'Revoke':
      return revoke(command.reason, state);
  }
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

export const sessionAggregate: Aggregate<SessionState, SessionCommand, SessionEvent> = {
  category: sessionCategory,
  codec: sessionCodec,
  decider: { initialState, decide, evolve },
};
