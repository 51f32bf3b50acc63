import { defineAggregate, type Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { MailOutcome, MemberNoticeKind, SecurityNoticeKind } from '../../../../validation/fields.js';
import { type SecurityNoticeEvent, securityNoticeEvents } from './events.js';

interface SecurityNoticeState {
  /** Whether the first opening of a share has requested the mail. */
  readonly requested: boolean;
  readonly mailed: boolean;
}

type SecurityNoticeCommand =
  | { readonly type: 'Request'; readonly shareId: string; readonly openedAt: Date }
  | {
      readonly type: 'MarkMailed';
      readonly userId: string;
      readonly kind: SecurityNoticeKind | MemberNoticeKind;
      readonly outcome: MailOutcome;
    };

const initialState: SecurityNoticeState = { requested: false, mailed: false };

function evolve(state: SecurityNoticeState, { type }: Evolving<SecurityNoticeEvent>): SecurityNoticeState {
  return type === 'SecurityNoticeRequested' ? { ...state, requested: true } : { ...state, mailed: true };
}

function decide(
  command: SecurityNoticeCommand,
  { requested, mailed }: SecurityNoticeState,
): readonly SecurityNoticeEvent[] {
  if (mailed) return [];
  if (command.type === 'MarkMailed') {
    const { userId, kind, outcome } = command;
    return [{ type: 'SecurityNoticeMailed', data: { user_id: userId, kind, outcome } }];
  }
  if (requested) return [];
  const { shareId, openedAt } = command;
  const data = { kind: 'share_opened', share_id: shareId, opened_at: openedAt.toISOString() } as const;
  return [{ type: 'SecurityNoticeRequested', data }];
}

export const securityNoticeAggregate = defineAggregate(securityNoticeEvents, {
  initialState,
  decide,
  evolve,
});
