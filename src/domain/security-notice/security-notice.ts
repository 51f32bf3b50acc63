import type { Aggregate } from '../../event-sourcing/deciding/decider.js';
import type { MailOutcome, MemberNoticeKind, SecurityNoticeKind } from '../fields.js';
import { securityNoticeCodec, type SecurityNoticeEvent, securityNoticeCategory } from './events.js';

export interface SecurityNoticeState {
  readonly mailed: boolean;
}

export interface SecurityNoticeCommand {
  readonly type: 'MarkMailed';
  readonly userId: string;
  readonly kind: SecurityNoticeKind | MemberNoticeKind;
  readonly outcome: MailOutcome;
}

const initialState: SecurityNoticeState = { mailed: false };

function decide(
  { userId, kind, outcome }: SecurityNoticeCommand,
  { mailed }: SecurityNoticeState,
): readonly SecurityNoticeEvent[] {
  return mailed ? [] : [{ type: 'SecurityNoticeMailed', data: { user_id: userId, kind, outcome } }];
}

export const securityNoticeAggregate: Aggregate<
  SecurityNoticeState,
  SecurityNoticeCommand,
  SecurityNoticeEvent
> = {
  category: securityNoticeCategory,
  codec: securityNoticeCodec,
  decider: { initialState, decide, evolve: () => ({ mailed: true }) },
};
