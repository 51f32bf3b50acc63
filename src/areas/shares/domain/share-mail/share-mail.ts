import { defineAggregate, type Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { MailOutcome } from '../../../../validation/fields.js';
import { checkText } from '../../../../validation/text.js';
import { type ShareMailEvent, shareMailEvents } from './events.js';

type ShareMailState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'requested';
      readonly projectId: string;
      /** The mails of the request. */
      readonly asked: number;
      /** The numbers of the mails that the mail server accepted or refused. */
      readonly mailed: ReadonlySet<number>;
    };

type ShareMailCommand =
  | {
      readonly type: 'Request';
      readonly projectId: string;
      readonly shareId: string;
      readonly sentBy: string;
      /** The sealed addresses: 1 to `shareMailAddressesMax`. */
      readonly to: readonly Sealed[];
      readonly message: Sealed | null;
    }
  | { readonly type: 'MarkMailed'; readonly number: number; readonly outcome: MailOutcome };

/** A mail that has not gone after this time, in ms, is not sent. */
export const shareMailLifetimeMs = 86_400_000;

const initialState: ShareMailState = { status: 'absent' };

function evolve(state: ShareMailState, event: Evolving<ShareMailEvent>): ShareMailState {
  if (event.type === 'ShareMailRequested') {
    const asked = state.status === 'absent' ? 1 : state.asked + 1;
    return { status: 'requested', projectId: event.data.project_id, asked, mailed: new Set() };
  }
  return state.status === 'absent'
    ? state
    : { ...state, mailed: new Set([...state.mailed, event.data.number]) };
}

function decide(command: ShareMailCommand, state: ShareMailState): readonly ShareMailEvent[] {
  if (command.type === 'MarkMailed') {
    const { number, outcome } = command;
    const isOpen = state.status === 'requested' && number < state.asked && !state.mailed.has(number);
    return isOpen ? [{ type: 'ShareMailed', data: { number, outcome } }] : [];
  }
  // The id derives from the command, so an earlier attempt requested the mails.
  if (state.status !== 'absent') return [];
  const { projectId, shareId, sentBy, message } = command;
  return command.to.map((to, number) => ({
    type: 'ShareMailRequested',
    data: { project_id: projectId, share_id: shareId, number, to, message, sent_by: sentBy },
  }));
}

/** Returns whether every mail of the request has an outcome. */
export function allMailed(state: ShareMailState): boolean {
  return state.status === 'requested' && state.mailed.size === state.asked;
}

/** The sender's message, in characters. */
const shareMailMessageMax = 500;

/** Checks the sender's message and trims it; null and blank: none. @throws CommandRejected invalid_request */
export function checkShareMailMessage(message: string | null): string | null {
  return message === null || message.trim() === ''
    ? null
    : checkText(message, 'message', shareMailMessageMax);
}

export const shareMailAggregate = defineAggregate(shareMailEvents, { initialState, decide, evolve });
