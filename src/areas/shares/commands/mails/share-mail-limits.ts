import type { SharedClaim, SharedRateLimiter } from '../../../../security/rates/shared-rate-limit.js';
import { TooManyAttempts } from '../../../shared/rejections.js';

export type ShareMailLimitName = 'share_mail_project' | 'share_mail_sender' | 'share_mail_address';

/**
 * Limits the mails with links of shares, so that no member makes the service send unwanted mail in numbers. Addresses count
 * under their keyed digests, in all processes.
 * @throws TooManyAttempts; StoreUnavailable; Overloaded
 */
export type CountShareMails = (request: {
  readonly projectId: string;
  readonly sentBy: string;
  readonly emailDigests: readonly string[];
}) => Promise<void>;

const tooMany: Readonly<Record<ShareMailLimitName, string>> = {
  share_mail_project: 'the project has mailed links to too many addresses; wait and try again',
  share_mail_sender: 'you have mailed links to too many addresses; wait and try again',
  share_mail_address: 'links have been mailed to one of the addresses too often; wait and try again',
};

export function makeCountShareMails({
  limiter,
}: {
  readonly limiter: SharedRateLimiter<ShareMailLimitName>;
}): CountShareMails {
  return async ({ projectId, sentBy, emailDigests }) => {
    const times = emailDigests.length;
    const claims: SharedClaim<ShareMailLimitName>[] = [
      { name: 'share_mail_project', key: projectId, times },
      { name: 'share_mail_sender', key: sentBy, times },
      ...emailDigests.map((key) => ({ name: 'share_mail_address', key }) as const),
    ];
    const verdict = await limiter.take(claims);
    if (!verdict.allowed) throw new TooManyAttempts(verdict.retryAfterSeconds, tooMany[verdict.name]);
  };
}
