import type { CommandHandler } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { GrantSource } from '../../../validation/fields.js';
import type { Entitlement } from '../domain/project/events.js';
import { projectAggregate, sourcesOf } from '../domain/project/project.js';

export interface EntitlementInput {
  readonly projectId: string;
  readonly entitlement: Entitlement;
  /** The project has the entitlement while one source grants it. */
  readonly source: GrantSource;
}

/** Grants a project an entitlement; a repetition changes nothing. @throws CommandRejected project_not_found */
export type GrantEntitlement = (input: EntitlementInput, context: CommandContext) => Promise<void>;

/**
 * Revokes the grant of one source, in every process before it resolves; does nothing where the source granted nothing.
 * @returns the sources that still grant the entitlement
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
