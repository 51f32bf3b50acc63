import type { ProjectDeps } from '../../deps.js';
import { projectAggregate } from '../../domain/project/project.js';

export interface ForgetInvitationsInput {
  readonly projectId: string;
  /** Ids of invitations that were accepted or withdrawn. */
  readonly ended: readonly string[];
}

/** Destroys the keys of ended invitations, and of the open invitations of a deleted project. */
export type ForgetInvitations = (input: ForgetInvitationsInput) => Promise<void>;

export function makeForgetInvitations({
  handler,
  sealer,
}: Pick<ProjectDeps, 'handler' | 'sealer'>): ForgetInvitations {
  return async ({ projectId, ended }) => {
    const { state } = await handler.load(projectAggregate, projectId);
    const open = state.status === 'deleted' ? state.invitationIds : [];
    for (const invitationId of [...ended, ...open]) {
      await sealer.destroy({ kind: 'invitation', projectId, invitationId });
    }
  };
}
