import { defineAggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import { type AuditLogEvent, auditLogEvents } from './events.js';

type AuditLogState = { readonly restarted: boolean };

interface AuditLogCommand {
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
export const auditLogAggregate = defineAggregate<AuditLogState, AuditLogCommand, AuditLogEvent>(
  auditLogEvents,
  { initialState, decide, evolve: () => ({ restarted: true }) },
);
