import type { ShareDeps } from '../deps.js';
import { projectAggregate } from '../../projects/domain/project/project.js';
import { rejectShare } from '../domain/share/rejections.js';

/** Refuses a share without a password where the project does not allow it. @throws CommandRejected open_shares_off */
export type RequireOpenShares = (projectId: string) => Promise<void>;

export function makeRequireOpenShares({ handler }: Pick<ShareDeps, 'handler'>): RequireOpenShares {
  return async (projectId) => {
    const { state } = await handler.load(projectAggregate, projectId);
    if (state.status === 'existing' && state.open_shares) return;
    rejectShare(
      'open_shares_off',
      'the project allows no shares without a password; choose a password, or let an owner change the project setting open_shares',
    );
  };
}
