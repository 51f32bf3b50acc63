import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import { invalid } from '../domain/invalid-request.js';
import { apiKeyExpiry } from '../domain/project/api-keys.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import type { Scope } from '../domain/scope.js';
import { checkName } from '../domain/text.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import { makeApiKey } from '../security/api-keys.js';
import type { ApiKeyReader, ApiKeyResource } from '../../projections/api-keys/reader.js';

export interface IssueApiKeyInput {
  readonly projectId: string;
  readonly actorId: string;
  readonly name: string;
  /** At least one, each once. */
  readonly scopes: readonly Scope[];
  /** 365 days from now when left out, and at most. */
  readonly expiresAt: Date | undefined;
}

export interface IssuedApiKey {
  readonly resource: ApiKeyResource;
  /** The key itself, which is nowhere else: whoever loses it needs another. */
  readonly key: string;
}

/**
 * Issues an API key of a project. A repeated command is refused: the key that it made cannot be shown again.
 * @throws CommandRejected invalid_request, project_not_found, insufficient_role, api_key_limit_reached, api_key_not_found
 */
export type IssueApiKey = (input: IssueApiKeyInput, context: CommandContext) => Promise<IssuedApiKey>;

export function makeIssueApiKey({
  handler,
  apiKeys,
  randomBytes,
}: {
  readonly handler: CommandHandler;
  readonly apiKeys: Pick<ApiKeyReader, 'after'>;
  readonly randomBytes: RandomBytes;
}): IssueApiKey {
  return async ({ projectId, actorId, name, scopes, expiresAt }, context) => {
    if (scopes.length === 0 || new Set(scopes).size < scopes.length) {
      invalid('scopes', 'must name at least one scope, and each once');
    }
    const keyId = derivedId(context, 'api-key');
    const { key, digest, prefix, lastFour } = makeApiKey(randomBytes);
    const issue = {
      type: 'IssueApiKey',
      ...{ actorId, keyId, name: checkName(name), digest, prefix, lastFour, scopes },
      expiresAt: apiKeyExpiry(expiresAt, context.time),
      now: context.time,
    } as const;
    const target = { aggregate: projectAggregate, id: projectId };
    const { documents, events } = await handler.handle(target, issue, context);
    const resource = apiKeys.after(documents, keyId);
    if (resource === null || events.length === 0) {
      return rejectProject('api_key_not_found', 'the key has been issued already and cannot be shown again');
    }
    return { resource, key };
  };
}
