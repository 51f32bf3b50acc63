import type { ShareAccessEvent } from '../../src/domain/share-access/events.js';
import type { ShareEvent } from '../../src/domain/share/events.js';
import type { Phrases } from './phrases.js';

/** The terms of a share. */
function termsInWords({
  expires_at,
  max_uses,
  allow_download,
}: Extract<ShareEvent, { type: 'ShareChanged' }>['data']): string {
  return [
    expires_at === null ? 'without an end' : `until ${expires_at}`,
    max_uses === null ? 'for any number of uses' : `for at most ${max_uses} uses`,
    allow_download ? 'with downloads' : 'without downloads',
  ].join(', ');
}

/** The events of a share. */
export const shareWords: Phrases<ShareEvent> = {
  ShareCreated: ({ project_id, asset_id, created_by, ...terms }, id) =>
    `shared asset ${asset_id} of project ${project_id} as share ${id}, ${termsInWords(terms)}` +
    `${created_by === null ? '' : `, for user ${created_by}`}; link and password hash are sealed`,
  ShareChanged: (terms, id) => `changed the terms of share ${id}: ${termsInWords(terms)}`,
  SharePasswordChanged: (_, id) => `changed the password of share ${id} (sealed hash)`,
  ShareUsed: ({ access_id }, id) => `used share ${id} once (access ${access_id})`,
  ShareVerificationThrottled: ({ failures }, id) =>
    `entered ${failures} wrong passwords at share ${id}, which answers more slowly`,
  ShareGuessingLimitReached: (_, id) => `reached the limit of wrong passwords at share ${id}`,
  ShareRevoked: (_, id) => `revoked share ${id}`,
};

/** The events of an access to a share. */
export const shareAccessWords: Phrases<ShareAccessEvent> = {
  ShareVerified: ({ share_id, project_id }, id) =>
    `opened share ${share_id} of project ${project_id} with the right password (access ${id})`,
};
