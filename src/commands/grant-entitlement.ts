import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { GrantSource } from '../domain/fields.js';
import type { Entitlement } from '../domain/project/events.js';
import { projectAggregate } from '../domain/project/project.js';

export interface EntitlementInput {
  readonly projectId: string;
  readonly entitlement: Entitlement;
  /** The project is entitled while one source holds. */
  readonly source: GrantSource;
}

/** Grants a project an entitlement; once more changes nothing. @throws CommandRejected project_not_found */
export type GrantEntitlement = (input: EntitlementInput, context: CommandContext) => Promise<void>;

export function makeGrantEntitlement({ handler }: { readonly handler: CommandHandler }): GrantEntitlement {
  return async ({ projectId, entitlement, source }, context) => {
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'GrantEntitlement', entitlement, source }, context);
  };
}
