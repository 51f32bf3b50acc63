import { userAggregate } from '../../accounts/domain/user/user.js';
import type { ProjectDeps } from '../deps.js';
import { rejectUseCase } from '../../shared/rejections.js';

/**
 * Checks that the user may make the service mail others: where mail is configured, only a user with a proved address may.
 * Otherwise made-up accounts could send mail to strangers. @throws CommandRejected email_not_verified
 */
export type RequireProved = (userId: string) => Promise<void>;

export function makeRequireProved({
  handler,
  mailConfigured,
}: Pick<ProjectDeps, 'handler' | 'mailConfigured'>): RequireProved {
  return async (userId) => {
    if (!mailConfigured) return;
    const { state } = await handler.load(userAggregate, userId);
    if (state.status !== 'registered' || state.email_verified) return;
    rejectUseCase(
      'email_not_verified',
      'prove your own address first: sign in by a code that is mailed to it',
    );
  };
}
