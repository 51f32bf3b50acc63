import type { ShareAccessEvent } from '../../../src/areas/shares/domain/share-access/events.js';
import type { ShareMailEvent } from '../../../src/areas/shares/domain/share-mail/events.js';
import type { ShareEvent } from '../../../src/areas/shares/domain/share/events.js';
import { chosenAssets } from '../../../src/areas/shares/domain/share/status.js';
import { inQuotes, type Phrases } from './phrases.js';

function assetsInWords(ids: readonly string[]): string {
  return `${ids.length === 1 ? 'asset' : 'assets'} ${ids.join(', ')}`;
}

/** The terms of a share. */
function termsInWords({
  expires_at,
  max_uses,
  allow_download,
  title,
  note,
  frame_ancestors,
  notify_sharer,
  show_sender,
}: Extract<ShareEvent, { type: 'ShareChanged' }>['data']): string {
  return [
    expires_at === null ? 'without an end' : `until ${expires_at}`,
    max_uses === null ? 'for any number of uses' : `for at most ${max_uses} uses`,
    allow_download ? 'with downloads' : 'without downloads',
    ...(title === null ? [] : ['with a sealed title']),
    ...(note === null ? [] : ['with a sealed note']),
    ...(frame_ancestors.length === 0 ? [] : [`in frames of ${frame_ancestors.join(' and ')}`]),
    ...(notify_sharer ? ['with a mail to the sharer on the first opening'] : []),
    ...(show_sender ? ['with the name of the sharer'] : []),
  ].join(', ');
}

/** The events of a share. */
export const shareWords: Phrases<ShareEvent> = {
  ShareCreated: ({ project_id, tag, created_by, password_hash, ...data }, id) =>
    `shared ${tag === null ? assetsInWords(chosenAssets(data)) : `the assets with the tag ${inQuotes(tag)}`} ` +
    `of project ${project_id} as share ${id}, ${termsInWords(data)}` +
    (created_by === null ? '' : `, for user ${created_by}`) +
    (password_hash === null
      ? ', without a password; the link is sealed'
      : '; link and password hash are sealed'),
  ShareChanged: (terms, id) => `changed the terms of share ${id}: ${termsInWords(terms)}`,
  SharePasswordChanged: ({ password_hash }, id) =>
    password_hash === null
      ? `removed the password of share ${id}`
      : `changed the password of share ${id} (sealed hash)`,
  ShareUsed: ({ access_id }, id) => `used share ${id} once (access ${access_id})`,
  ShareVerificationThrottled: ({ failures }, id) => `entered ${failures} wrong passwords at share ${id}`,
  ShareGuessingLimitReached: (_, id) => `reached the limit of wrong passwords at share ${id}`,
  ShareRevoked: (_, id) => `revoked share ${id}`,
};

/** The events of an access to a share. */
export const shareAccessWords: Phrases<ShareAccessEvent> = {
  ShareVerified: ({ share_id, project_id }, id) =>
    `opened share ${share_id} of project ${project_id} (access ${id})`,
  ShareDownloaded: ({ share_id, asset_id }, id) =>
    `saved asset ${asset_id} of share ${share_id} by its page (access ${id})`,
};

/** The events of the mails of one request. */
export const shareMailWords: Phrases<ShareMailEvent> = {
  ShareMailRequested: ({ share_id, project_id, number, sent_by, message }, id) =>
    `asked for mail ${number} of request ${id}, with the link of share ${share_id} of project ${project_id}, for user ` +
    `${sent_by}, to a sealed address${message === null ? '' : ', with a sealed message'}`,
  ShareMailed: ({ number, outcome }, id) =>
    outcome === 'accepted'
      ? `handed mail ${number} of request ${id} to the mail server`
      : `could not send mail ${number} of request ${id}, because the mail server refused it`,
};
