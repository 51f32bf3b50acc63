import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';

export interface RevokeApiKeyInput {
  readonly projectId: string;
  readonly keyId: string;
}

/** Revokes an API key, from the next request on. @throws CommandRejected project_not_found, api_key_not_found */
export type RevokeApiKey = (input: RevokeApiKeyInput, context: CommandContext) => Promise<void>;

export function makeRevokeApiKey({ handler }: { readonly handler: CommandHandler }): RevokeApiKey {
  return async ({ projectId, keyId }, context) => {
    await handler.handle(
      { aggregate: projectAggregate, id: projectId },
      { type: 'RevokeApiKey', keyId },
      context,
      { revokesAccess: true },
    );
  };
}
