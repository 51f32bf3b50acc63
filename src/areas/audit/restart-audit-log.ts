import { auditLogAggregate } from './domain/audit-log/audit-log.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../event-sourcing/deciding/ids.js';
import type { SharedDeps } from '../shared/deps.js';

/** Begins another origin of the audit log. Returns the id of the restart. */
export type RestartAuditLog = (
  input: { readonly previousNote: string | null; readonly reason: string },
  context: CommandContext,
) => Promise<string>;

export function makeRestartAuditLog({ handler }: Pick<SharedDeps, 'handler'>): RestartAuditLog {
  return async ({ previousNote, reason }, context) => {
    const id = derivedId(context, 'audit-restart');
    await handler.handle(
      { aggregate: auditLogAggregate, id },
      { type: 'Restart', previousNote, reason },
      context,
    );
    return id;
  };
}
