import { projectAggregate, type ProjectCommand } from '../../domain/project/project.js';
import { userAggregate } from '../../domain/user/user.js';
import type { Deps } from '../deps.js';
import type { CountInvitation } from './invitation-limits.js';
import type { RequireProved } from './require-proved.js';
import { noticeOf } from '../../domain/project/notices.js';

/**
 * Counts the mail that a command about a member would cause, under the limits on invitations; does nothing for a command
 * that causes none or is refused, which the append then reports.
 * @throws CommandRejected email_not_verified; TooManyAttempts; StoreUnavailable; Overloaded
 */
export type CountNotice = (
  told: { readonly projectId: string; readonly actorId: string; readonly userId: string },
  command: ProjectCommand,
) => Promise<void>;

export function makeCountNotice({
  handler,
  requireProved,
  countInvitation,
}: Pick<Deps, 'handler'> & {
  readonly requireProved: RequireProved;
  readonly countInvitation: CountInvitation;
}): CountNotice {
  return async ({ projectId, actorId, userId }, command) => {
    const { state } = await handler.load(projectAggregate, projectId);
    const events = projectAggregate.decider.decide(command, state);
    if (!events.some((event) => noticeOf(event) !== null)) return;
    await requireProved(actorId);
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered') return;
    await countInvitation({ projectId, inviterId: actorId, emailDigest: user.email_digest });
  };
}
