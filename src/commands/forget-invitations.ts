import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';
import type { Sealer } from '../keys/sealer.js';

export interface ForgetInvitationsInput {
  readonly projectId: string;
  /** Ids of invitations that were accepted or withdrawn. */
  readonly ended: readonly string[];
}

/** Destroys the keys of the addresses that nobody needs any more; those of a deleted project are found by themselves. */
export type ForgetInvitations = (input: ForgetInvitationsInput) => Promise<void>;

export function makeForgetInvitations({
  handler,
  sealer,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly sealer: Pick<Sealer, 'destroy'>;
}): ForgetInvitations {
  return async ({ projectId, ended }) => {
    const { state } = await handler.load(projectAggregate, projectId);
    const open = state.status === 'deleted' ? state.invitationIds : [];
    for (const invitationId of [...ended, ...open]) {
      await sealer.destroy({ kind: 'invitation', projectId, invitationId });
    }
  };
}
