import type { ProjectDeps } from '../deps.js';
import { derivedId, stepContext } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { makeApiKey } from '../../../security/tokens/api-keys.js';
import { whenRejected } from '../../shared/rejections.js';
import type { ApiKeyResource } from '../../../../projections/projects/api-keys/reader.js';
import { apiKeyExpiry } from '../domain/project/api-keys.js';
import { projectAggregate } from '../domain/project/project.js';
import { type ProjectRejection, rejectProject } from '../domain/project/rejections.js';
import type { Scope } from '../domain/role.js';
import type { ActingSession, RequireProved } from './require-proved.js';

/** A key to issue. `name` and `scopes` are as the schema of the request returns them. */
interface ApiKeyInput {
  readonly projectId: string;
  readonly actorId: string;
  readonly session: ActingSession;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Default and maximum: 365 days from now. */
  readonly expires_at?: string | undefined;
}

/**
 * Checks the end of a key.
 * @param times.earliest the earliest time that the command may have: a repetition may come after `expires_at`
 * @throws CommandRejected invalid_request
 */
export function checkKeyExpiry(
  { expires_at }: Pick<ApiKeyInput, 'expires_at'>,
  { time, earliest }: { readonly time: Date; readonly earliest: Date },
): void {
  const isOver = expires_at !== undefined && new Date(expires_at) <= time;
  apiKeyExpiry(expires_at, isOver ? earliest : time);
}

/** Makes the use cases of API keys (src/areas/projects/README.md#api-keys). */
export function makeApiKeys(deps: ProjectDeps & { readonly requireProved: RequireProved }) {
  const { handler, apiKeys, randomBytes, requireProved } = deps;
  return {
    /**
     * Issues an API key of a project. A repeated command is refused, because the service does not store the key, and can never show it
     * again.
     * @throws CommandRejected invalid_request, project_not_found, insufficient_role, api_key_limit_reached,
     * api_key_issued_before, email_not_verified, session_ended where the session ended before the key was issued, or meanwhile
     */
    issueApiKey: async (
      { projectId, actorId, session, name, scopes, expires_at }: ApiKeyInput,
      context: CommandContext,
    ): Promise<{ readonly resource: ApiKeyResource; readonly key: string }> => {
      const { time: now } = context;
      const end = apiKeyExpiry(expires_at, now);
      await requireProved({ actorId, session });
      const key_id = derivedId(context, 'api-key');
      const { key, ...made } = makeApiKey(randomBytes);
      const issued = { ...made, key_id, name, scopes, expires_at: end };
      const issue = { type: 'IssueApiKey', actorId, key: issued, now } as const;
      const { documents, events } = await handler.handle(projectAggregate.at(projectId), issue, context);
      const resource = apiKeys.after(documents, key_id);
      const isIssued = events.length > 0 || (await isDigestOf(projectId, key_id, made.digest));
      if (resource === null || !isIssued) {
        return rejectProject(
          'api_key_issued_before',
          'the key was issued and cannot be shown again; revoke it and issue another with another Idempotency-Key',
        );
      }
      // The end of all keys that the account gave may come before the append, and the key would outlive it.
      await requireProved({ actorId, session }).catch(async (refusal: unknown) => {
        // What ended the session has revoked the key already.
        const isRevoked = whenRejected<ProjectRejection>('api_key_not_found')(() => undefined);
        await revokeApiKey({ projectId, keyId: key_id }, stepContext(context, 'take-back')).catch(isRevoked);
        throw refusal;
      });
      return { resource, key };
    },
    revokeApiKey,
  };

  /** Revokes an API key from the next request on. @throws CommandRejected project_not_found, api_key_not_found */
  async function revokeApiKey(
    { projectId, keyId }: { readonly projectId: string; readonly keyId: string },
    context: CommandContext,
  ): Promise<void> {
    await handler.handle(projectAggregate.at(projectId), { type: 'RevokeApiKey', keyId }, context, {
      revokesAccess: true,
    });
  }

  /** Whether this attempt issued the key after all: its append may have won although its acknowledgement was lost. */
  async function isDigestOf(projectId: string, keyId: string, digest: string): Promise<boolean> {
    const { state } = await handler.load(projectAggregate, projectId);
    return (
      state.status === 'existing' &&
      state.api_keys.some((issued) => issued.id === keyId && issued.digest === digest)
    );
  }
}
