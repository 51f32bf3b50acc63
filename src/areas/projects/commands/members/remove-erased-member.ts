import type { ProjectDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../domain/project/project.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';

export interface RemoveErasedMemberInput {
  readonly projectId: string;
  readonly userId: string;
}

/** Ends the membership of an erased account; does nothing while the account exists. */
export type RemoveErasedMember = (input: RemoveErasedMemberInput, context: CommandContext) => Promise<void>;

export function makeRemoveErasedMember({ handler }: Pick<ProjectDeps, 'handler'>): RemoveErasedMember {
  return async ({ projectId, userId }, context) => {
    const { state } = await handler.load(userAggregate, userId);
    if (state.status !== 'erased') return;
    const target = { aggregate: projectAggregate, id: projectId };
    const command = { type: 'RemoveErasedMember', userId } as const;
    await handler.handle(target, command, context, { revokesAccess: true });
  };
}
