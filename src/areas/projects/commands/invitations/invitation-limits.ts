import type { SharedRateLimiter } from '../../../../security/rates/shared-rate-limit.js';
import { TooManyAttempts } from '../../../shared/rejections.js';

export type InvitationLimitName = 'invitation_project' | 'invitation_inviter' | 'invitation_address';

/**
 * Limits invitations, added members, higher roles and offers, and so the mails that they cause. Otherwise an inviter could
 * invite and withdraw without end, and make the service mail any address; or add, and find out who has an account.
 * @throws TooManyAttempts; StoreUnavailable; Overloaded
 */
export type CountInvitation = (
  invitation: {
    readonly projectId: string;
    readonly inviterId: string;
    readonly emailDigest: string;
  },
  /** Writes other records once the limits allow it, in one commit of embedded stores. */
  beside?: () => Promise<unknown>,
) => Promise<void>;

const tooMany: Readonly<Record<InvitationLimitName, string>> = {
  invitation_project: 'the project has invited too many addresses; wait and try again',
  invitation_inviter: 'you have invited too many addresses; wait and try again',
  invitation_address: 'the address has been invited too often; wait and try again',
};

export function makeCountInvitation({
  limiter,
}: {
  readonly limiter: SharedRateLimiter<InvitationLimitName>;
}): CountInvitation {
  return async ({ projectId, inviterId, emailDigest }, beside) => {
    const claims = [
      { name: 'invitation_project', key: projectId },
      { name: 'invitation_inviter', key: inviterId },
      { name: 'invitation_address', key: emailDigest },
    ] as const;
    const verdict = await limiter.take(claims, beside);
    if (!verdict.allowed) throw new TooManyAttempts(verdict.retryAfterSeconds, tooMany[verdict.name]);
  };
}
