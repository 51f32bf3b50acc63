import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';
import { userAggregate } from '../domain/user/user.js';

export interface RemoveErasedMemberInput {
  readonly projectId: string;
  readonly userId: string;
}

/** Ends a membership whose account has been erased; of an account that exists nothing changes. */
export type RemoveErasedMember = (input: RemoveErasedMemberInput, context: CommandContext) => Promise<void>;

export function makeRemoveErasedMember({
  handler,
}: {
  readonly handler: CommandHandler;
}): RemoveErasedMember {
  return async ({ projectId, userId }, context) => {
    const { state } = await handler.load(userAggregate, userId);
    if (state.status !== 'erased') return;
    const target = { aggregate: projectAggregate, id: projectId };
    const command = { type: 'RemoveErasedMember', userId } as const;
    await handler.handle(target, command, context, { revokesAccess: true });
  };
}
