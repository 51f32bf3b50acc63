import type { ProjectDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../domain/project/project.js';

export interface RevokeApiKeyInput {
  readonly projectId: string;
  readonly keyId: string;
}

/** Revokes an API key from the next request on. @throws CommandRejected project_not_found, api_key_not_found */
export type RevokeApiKey = (input: RevokeApiKeyInput, context: CommandContext) => Promise<void>;

export function makeRevokeApiKey({ handler }: Pick<ProjectDeps, 'handler'>): RevokeApiKey {
  return async ({ projectId, keyId }, context) => {
    await handler.handle(
      { aggregate: projectAggregate, id: projectId },
      { type: 'RevokeApiKey', keyId },
      context,
      { revokesAccess: true },
    );
  };
}
