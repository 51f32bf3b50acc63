import type { Decisions } from '../../../../event-sourcing/deciding/command-handler.js';
import { invalid } from '../../../../validation/field-problems.js';
import { roleAtLeast } from '../role.js';
import type { ProjectEvent } from './events.js';
import { type ExistingProject, roleIn } from './fold.js';
import { rejectProject } from './rejections.js';

type Issued = Extract<ProjectEvent, { type: 'ApiKeyIssued' }>['data'];
type NewKey = Omit<Issued, 'issued_by' | 'scopes'> & { readonly scopes: Readonly<Issued['scopes']> };

export type ApiKeyCommand =
  | { readonly type: 'IssueApiKey'; readonly actorId: string; readonly key: NewKey; readonly now: Date }
  | { readonly type: 'RevokeApiKey'; readonly keyId: string };

/** API keys of one project (src/areas/projects/README.md#rules-of-a-project). Expired keys do not count. */
const apiKeysMax = 100;

/** The longest life of a key and the default: 365 days, in ms (src/areas/projects/README.md#api-keys). */
const apiKeyLifeMs = 365 * 86_400_000;

/** Returns when a key that is issued now expires. @throws CommandRejected invalid_request */
export function apiKeyExpiry(expires_at: string | undefined, now: Date): string {
  const latest = new Date(now.getTime() + apiKeyLifeMs);
  const end = expires_at === undefined ? latest : new Date(expires_at);
  if (end <= now) invalid('expires_at', 'must lie in the future', 'too_small');
  if (end > latest) invalid('expires_at', 'must lie within 365 days from now', 'too_large');
  return end.toISOString();
}

export const apiKeyDecisions: Decisions<ApiKeyCommand, ExistingProject, ProjectEvent> = {
  IssueApiKey: (command, project) => issue(command, project),
  RevokeApiKey: (command, project) => {
    if (!hasKey(project, command.keyId)) rejectProject('api_key_not_found', 'there is no such API key');
    return [keyRevoked({ id: command.keyId })];
  },
};

function issue(
  { actorId, key, now }: Extract<ApiKeyCommand, { type: 'IssueApiKey' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const keys = project.api_keys;
  // Checked here again: the removal of an issuer revokes only the keys that exist, so no key may follow it.
  if (!roleAtLeast(roleIn(project, actorId) ?? 'viewer', 'admin'))
    rejectProject('insufficient_role', 'this needs the role admin');
  // A repetition, because the key's id derives from the command.
  if (hasKey(project, key.key_id)) return [];
  if (project.endedIds.includes(key.key_id)) {
    rejectProject(
      'api_key_issued_before',
      'the key was issued and revoked; issue another with another Idempotency-Key',
    );
  }
  const expired = keys.filter(({ expires_at }) => new Date(expires_at) <= now);
  if (keys.length - expired.length >= apiKeysMax)
    rejectProject('api_key_limit_reached', `a project has at most ${apiKeysMax} API keys`);
  // Expired keys stay listed until their places are needed, so that no document grows without bound.
  const crowdedOut = keys.length < apiKeysMax ? [] : expired;
  return [
    ...crowdedOut.map(keyRevoked),
    { type: 'ApiKeyIssued', data: { ...key, scopes: [...key.scopes], issued_by: actorId } },
  ];
}

export function keyRevoked({ id }: { readonly id: string }): ProjectEvent {
  return { type: 'ApiKeyRevoked', data: { key_id: id } };
}

function hasKey({ api_keys }: ExistingProject, keyId: string): boolean {
  return api_keys.some(({ id }) => id === keyId);
}
