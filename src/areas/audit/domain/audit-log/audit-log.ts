import type { Aggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import { auditLogCategory, auditLogCodec, type AuditLogEvent } from './events.js';

export interface AuditLogState {
  readonly restarted: boolean;
}

export interface AuditLogCommand {
  readonly type: 'Restart';
  readonly previousNote: string | null;
  readonly reason: string;
}

const initialState: AuditLogState = { restarted: false };

function decide(
  { previousNote, reason }: AuditLogCommand,
  { restarted }: AuditLogState,
): readonly AuditLogEvent[] {
  return restarted ? [] : [{ type: 'AuditRestarted', data: { previous_note: previousNote, reason } }];
}

/** A restart of the audit log (src/areas/audit/signing/README.md#contradictions-of-the-audit-log). */
export const auditLogAggregate: Aggregate<AuditLogState, AuditLogCommand, AuditLogEvent> = {
  category: auditLogCategory,
  codec: auditLogCodec,
  decider: { initialState, decide, evolve: () => ({ restarted: true }) },
};
