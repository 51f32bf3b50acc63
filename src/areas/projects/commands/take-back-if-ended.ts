import type { CommandHandler } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../../event-sourcing/deciding/ids.js';
import { projectAggregate } from '../domain/project/project.js';
import { sessionHolds } from '../../accounts/domain/session-epoch.js';
import { rejectUser } from '../../accounts/domain/user/rejections.js';
import { userAggregate } from '../../accounts/domain/user/user.js';

/** The session that asks for a command which gives access to a project. */
export interface ActingSession {
  readonly id: string;
  /** The epoch of the user at the start of the session. */
  readonly epoch: number;
}

/**
 * Takes back what a command gave, where the session of its actor has ended meanwhile: by a ban, by the first proof of the
 * address, by an erasure or a sign-out everywhere. Call it after the append. The end of all that the account gave (see
 * `EndGivenAccess`) may come before that append, and the access would outlive it.
 * @throws CommandRejected session_ended where the session has ended; StoreUnavailable
 */
export type TakeBackIfEnded = (
  given: {
    readonly projectId: string;
    readonly actorId: string;
    readonly session: ActingSession;
    /** The id of the offer that the command makes. */
    readonly offerId?: string;
  },
  context: CommandContext,
) => Promise<void>;

export function makeTakeBackIfEnded({ handler }: { readonly handler: CommandHandler }): TakeBackIfEnded {
  return async ({ projectId, actorId, session, offerId = null }, context) => {
    const { state: user } = await handler.load(userAggregate, actorId);
    if (user.status === 'registered' && sessionHolds(user, session)) return;
    const { commandId } = context;
    const takeBack = { type: 'TakeBackAccess', userId: actorId, commandId, offerId } as const;
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, takeBack, stepContext(context, 'take-back'), { revokesAccess: true });
    rejectUser('session_ended', 'the session has ended');
  };
}
