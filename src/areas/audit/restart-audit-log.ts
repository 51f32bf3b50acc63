import { auditLogAggregate } from './domain/audit-log/audit-log.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../event-sourcing/deciding/command-handler.js';
import type { SharedDeps } from '../shared/deps.js';

/** Begins another origin of the audit log. Returns the id of the restart. */
export function makeRestartAuditLog({ handler }: SharedDeps) {
  return async (
    { previousNote, reason }: { readonly previousNote: string | null; readonly reason: string },
    context: CommandContext,
  ) => {
    const id = derivedId(context, 'audit-restart');
    await handler.handle(auditLogAggregate.at(id), { type: 'Restart', previousNote, reason }, context);
    return id;
  };
}
