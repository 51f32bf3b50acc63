import { projectAggregate } from '../../../projects/domain/project/project.js';
import { roleIn } from '../../../projects/domain/project/fold.js';
import type { OpenShare } from '../../domain/share/share.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { ShareDeps } from '../../deps.js';

/** The user who gets mails about a share. */
export interface ShareRecipient {
  readonly userId: string;
  /** The address. */
  readonly to: string;
}

/**
 * Finds the user who gets the mails about a share: the sharer, or the first owner of the project where an API key made the
 * share or the sharer has left. Null where the address is not proved, because a stranger may have registered it.
 * @throws StoreUnavailable; errors of `Sealer.open`
 */
export type FindShareRecipient = (
  share: Pick<OpenShare, 'project_id' | 'created_by'>,
) => Promise<ShareRecipient | null>;

export function makeFindShareRecipient({
  handler,
  sealer,
}: Pick<ShareDeps, 'handler' | 'sealer'>): FindShareRecipient {
  return async ({ project_id, created_by }) => {
    const { state: project } = await handler.load(projectAggregate, project_id);
    if (project.status !== 'existing') return null;
    const isMember = created_by !== null && roleIn(project, created_by) !== null;
    const userId = isMember ? created_by : project.members.find(({ role }) => role === 'owner')?.user_id;
    if (userId === undefined) return null;
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || !user.email_verified) return null;
    const to = await sealer.open({ kind: 'person', userId }, 'email', user.email);
    return to === erased ? null : { userId, to };
  };
}
