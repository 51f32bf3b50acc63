import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { shareNotFound } from '../domain/share/rejections.js';
import { type OpenShare, shareAggregate } from '../domain/share/share.js';

/** Finds a share in its project, by the log: another project's is one that does not exist. */
export interface ShareOwnership {
  /** @throws CommandRejected share_not_found */
  require(projectId: string, shareId: string): Promise<OpenShare>;
}

export function makeShareOwnership({
  handler,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
}): ShareOwnership {
  return {
    require: async (projectId, shareId) => {
      const { state } = await handler.load(shareAggregate, shareId);
      return state.status === 'open' && state.projectId === projectId ? state : shareNotFound();
    },
  };
}
