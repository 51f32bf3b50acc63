import type { ProjectDeps } from '../../deps.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import { projectAggregate } from '../../domain/project/project.js';

/** Makes what destroys the keys of invited addresses, and the reaction that does so when an invitation ends. */
export function makeForgetInvitations({ handler, sealer }: Pick<ProjectDeps, 'handler' | 'sealer'>) {
  return {
    forgetInvitations,
    forgetEndedInvitations: on(projectAggregate, ['MemberAdded', 'InvitationWithdrawn', 'ProjectDeleted'], {
      name: 'forget-invitations',
      // Destroying a key again costs no more than to read whether it exists.
      isDue: (_, { type, data }) => Promise.resolve(type !== 'MemberAdded' || data.invitation_id !== null),
      run: (projectId, _, { data }) => {
        const id = 'invitation_id' in data ? data.invitation_id : null;
        return forgetInvitations({ projectId, ended: id === null ? [] : [id] });
      },
    }),
  };

  /**
   * Destroys the keys of ended invitations, and of the open invitations of a deleted project.
   * @param input.ended ids of invitations that were accepted or withdrawn
   */
  async function forgetInvitations(input: {
    readonly projectId: string;
    readonly ended: readonly string[];
  }): Promise<void> {
    const { projectId, ended } = input;
    const { state } = await handler.load(projectAggregate, projectId);
    const open = state.status === 'deleted' ? state.invitationIds : [];
    for (const invitationId of [...ended, ...open]) {
      await sealer.destroy({ kind: 'invitation', projectId, invitationId });
    }
  }
}
