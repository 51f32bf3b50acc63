import type { Aggregate } from '../../event-sourcing/decider.js';
import type { MailOutcome, SecurityNoticeKind } from '../fields.js';
import { securityNoticeCodec, type SecurityNoticeEvent } from './events.js';
import { securityNoticeCategory } from './stream.js';

export interface SecurityNoticeState {
  readonly mailed: boolean;
}

export interface SecurityNoticeCommand {
  readonly type: 'MarkMailed';
  readonly userId: string;
  readonly kind: SecurityNoticeKind;
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
