import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { GrantSource } from '../domain/fields.js';
import type { Entitlement } from '../domain/project/events.js';
import { projectAggregate, sourcesOf } from '../domain/project/project.js';

export interface EntitlementInput {
  readonly projectId: string;
  readonly entitlement: Entitlement;
  /** The project is entitled while one source holds. */
  readonly source: GrantSource;
}

/** Grants a project an entitlement; once more changes nothing. @throws CommandRejected project_not_found */
export type GrantEntitlement = (input: EntitlementInput, context: CommandContext) => Promise<void>;

/**
 * Takes one source's grant back, in every process before it returns; what that source has not granted changes nothing.
 * @returns the sources that still hold: while there are any the project stays entitled
 * @throws CommandRejected project_not_found; StoreUnavailable while documents cannot be written
 */
export type RevokeEntitlement = (
  input: EntitlementInput,
  context: CommandContext,
) => Promise<readonly string[]>;

interface EntitlementDeps {
  readonly handler: CommandHandler;
}

export function makeGrantEntitlement({ handler }: EntitlementDeps): GrantEntitlement {
  return async ({ projectId, entitlement, source }, context) => {
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'GrantEntitlement', entitlement, source }, context);
  };
}

export function makeRevokeEntitlement({ handler }: EntitlementDeps): RevokeEntitlement {
  return async ({ projectId, entitlement, source }, context) => {
    const target = { aggregate: projectAggregate, id: projectId };
    const command = { type: 'RevokeEntitlement', entitlement, source } as const;
    await handler.handle(target, command, context, { revokesAccess: true });
    const { state } = await handler.load(projectAggregate, projectId);
    return state.status === 'existing' ? sourcesOf(state, entitlement) : [];
  };
}
