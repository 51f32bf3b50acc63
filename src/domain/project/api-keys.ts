import { invalid } from '../invalid-request.js';
import { roleAtLeast } from '../role.js';
import type { Scope } from '../scope.js';
import type { ProjectEvent } from './events.js';
import { rejectProject } from './rejections.js';
import type { ExistingProject } from './state.js';

export type ApiKeyCommand =
  | {
      readonly type: 'IssueApiKey';
      readonly actorId: string;
      readonly keyId: string;
      readonly name: string;
      /** SHA-256 of the whole key. */
      readonly digest: string;
      readonly prefix: string;
      readonly lastFour: string;
      readonly scopes: readonly Scope[];
      readonly expiresAt: Date;
      readonly now: Date;
    }
  | { readonly type: 'RevokeApiKey'; readonly keyId: string };

/** DESIGN 4.2; expired ones do not count. */
export const apiKeysMax = 100;

/** How long a key lives at most, and where nothing else is asked for: 365 days (DESIGN 4.2). */
export const apiKeyLifeMs = 365 * 86_400_000;

/** When a key that is issued now ends. @throws CommandRejected invalid_request */
export function apiKeyExpiry(asked: Date | undefined, now: Date): Date {
  const latest = new Date(now.getTime() + apiKeyLifeMs);
  if (asked === undefined) return latest;
  if (asked <= now) invalid('expires_at', 'must lie in the future');
  if (asked > latest) invalid('expires_at', 'must lie within 365 days from now');
  return asked;
}

export function decideApiKeys(command: ApiKeyCommand, project: ExistingProject): readonly ProjectEvent[] {
  switch (command.type) {
    case 'IssueApiKey':
      return issue(command, project);
    case 'RevokeApiKey':
      if (!project.apiKeys.has(command.keyId)) {
        rejectProject('api_key_not_found', 'there is no such API key');
      }
      return [{ type: 'ApiKeyRevoked', data: { key_id: command.keyId } }];
  }
}

function issue(
  command: Extract<ApiKeyCommand, { type: 'IssueApiKey' }>,
  { members, apiKeys }: ExistingProject,
): readonly ProjectEvent[] {
  const { actorId, keyId, now } = command;
  // Decided here once more: a key that its issuer's removal could not revoke must not come to be.
  if (!roleAtLeast(members.get(actorId) ?? 'viewer', 'admin')) {
    rejectProject('insufficient_role', 'this needs the role admin');
  }
  // Repeated: the key's id is made from the command.
  if (apiKeys.has(keyId)) return [];
  const expired = [...apiKeys].filter(([, { expiresAt }]) => expiresAt <= now);
  if (apiKeys.size - expired.length >= apiKeysMax) {
    rejectProject('api_key_limit_reached', `a project has at most ${apiKeysMax} API keys`);
  }
  // Expired ones are shown while there is room for them, so that no document grows without bound.
  const crowdedOut = apiKeys.size < apiKeysMax ? [] : expired;
  return [
    ...crowdedOut.map(([id]): ProjectEvent => ({ type: 'ApiKeyRevoked', data: { key_id: id } })),
    {
      type: 'ApiKeyIssued',
      data: {
        key_id: keyId,
        name: command.name,
        digest: command.digest,
        prefix: command.prefix,
        last_four: command.lastFour,
        scopes: [...command.scopes],
        expires_at: command.expiresAt.toISOString(),
        issued_by: actorId,
      },
    },
  ];
}
