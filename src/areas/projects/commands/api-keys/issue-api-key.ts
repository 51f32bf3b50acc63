import type { ProjectDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId, stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { invalid } from '../../../../validation/invalid-request.js';
import { apiKeyExpiry } from '../../domain/project/api-keys.js';
import { projectAggregate } from '../../domain/project/project.js';
import { type ProjectRejection, rejectProject } from '../../domain/project/rejections.js';
import type { Scope } from '../../domain/scope.js';
import { isRejection } from '../../../shared/rejections.js';
import { checkName } from '../../../../validation/text.js';
import { makeApiKey } from '../../../../security/tokens/api-keys.js';
import type { ApiKeyResource } from '../../../../../projections/projects/api-keys/reader.js';
import type { ActingSession, RequireProved } from '../require-proved.js';

export interface IssueApiKeyInput {
  readonly projectId: string;
  readonly actorId: string;
  readonly session: ActingSession;
  readonly name: string;
  /** At least one, each once. */
  readonly scopes: readonly Scope[];
  /** Default and maximum: 365 days from now. */
  readonly expiresAt: Date | undefined;
}

export interface IssuedApiKey {
  readonly resource: ApiKeyResource;
  /** The key itself. The service does not store it, so it can never show it again. */
  readonly key: string;
}

/**
 * Issues an API key of a project. A repeated command is refused, because the key cannot be shown again.
 * @throws CommandRejected invalid_request, project_not_found, insufficient_role, api_key_limit_reached,
 * api_key_issued_before, email_not_verified, session_ended where the session ended before the key was issued, or meanwhile
 */
export type IssueApiKey = (input: IssueApiKeyInput, context: CommandContext) => Promise<IssuedApiKey>;

/**
 * Checks what needs no store, and returns it with its defaults.
 * @param times.earliest the earliest time that the command may have: a repetition may come after `expiresAt`
 * @throws CommandRejected invalid_request
 */
export function checkKeyIssue(
  { name, scopes, expiresAt }: Pick<IssueApiKeyInput, 'name' | 'scopes' | 'expiresAt'>,
  { time, earliest }: { readonly time: Date; readonly earliest: Date },
): { readonly name: string; readonly expiresAt: Date } {
  if (scopes.length === 0 || new Set(scopes).size < scopes.length) {
    invalid(
      'scopes',
      'must name at least one scope, and each once',
      scopes.length === 0 ? 'too_short' : 'repeated',
    );
  }
  const isOver = expiresAt !== undefined && expiresAt <= time;
  return { name: checkName(name), expiresAt: apiKeyExpiry(expiresAt, isOver ? earliest : time) };
}

export function makeIssueApiKey({
  handler,
  apiKeys,
  randomBytes,
  requireProved,
}: Pick<ProjectDeps, 'handler' | 'apiKeys' | 'randomBytes'> & {
  readonly requireProved: RequireProved;
}): IssueApiKey {
  return async (input, context) => {
    const { projectId, actorId, session, scopes } = input;
    const { time } = context;
    const { name, expiresAt } = checkKeyIssue(input, { time, earliest: time });
    await requireProved({ actorId, session });
    const keyId = derivedId(context, 'api-key');
    const { key, digest, prefix, lastFour } = makeApiKey(randomBytes);
    const issue = {
      type: 'IssueApiKey',
      ...{ actorId, keyId, name, digest, prefix, lastFour, scopes },
      expiresAt,
      now: time,
    } as const;
    const target = { aggregate: projectAggregate, id: projectId };
    const { documents, events } = await handler.handle(target, issue, context);
    const resource = apiKeys.after(documents, keyId);
    const isIssued = events.length > 0 || (await isDigestOf(projectId, keyId, digest));
    if (resource === null || !isIssued) {
      return rejectProject(
        'api_key_issued_before',
        'the key was issued and cannot be shown again; revoke it and issue another with another Idempotency-Key',
      );
    }
    // The end of all keys that the account gave may come before the append, and the key would outlive it.
    await requireProved({ actorId, session }).catch(async (refusal: unknown) => {
      await revoke(projectId, keyId, stepContext(context, 'take-back'));
      throw refusal;
    });
    return { resource, key };
  };

  async function revoke(projectId: string, keyId: string, context: CommandContext): Promise<void> {
    const target = { aggregate: projectAggregate, id: projectId };
    try {
      await handler.handle(target, { type: 'RevokeApiKey', keyId }, context, { revokesAccess: true });
    } catch (error) {
      // What ended the session has revoked the key already.
      if (!isRejection<ProjectRejection>(error, 'api_key_not_found')) throw error;
    }
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
