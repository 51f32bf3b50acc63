import type { AccountDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../event-sourcing/ports/domain-event.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import type { UserResource } from '../../../../projections/accounts/users/reader.js';
import { userAggregate } from '../domain/user/user.js';
import { loadRegistered, openForPerson, sealForPerson } from './finding.js';

export function makeChangeProfile({ handler, sealer, users }: AccountDeps) {
  /** Changes the given fields of a profile. @throws CommandRejected user_not_found; PreconditionFailed */
  return async (
    { userId, nickname: given }: { readonly userId: string; readonly nickname: string | undefined },
    context: CommandContext,
    options?: Pick<HandleOptions, 'expectedRevision'>,
  ): Promise<Versioned<UserResource>> => {
    const nickname = given === undefined ? undefined : await sealChanged(userId, given);
    const command = { type: 'ChangeProfile', nickname } as const;
    const { documents } = await handler.handle(userAggregate.at(userId), command, context, options);
    return users.after(documents);
  };

  /** Returns undefined for the current nickname: sealed again, it would look like a change. */
  async function sealChanged(userId: string, nickname: string): Promise<Sealed | undefined> {
    const field = { userId, field: 'nickname' };
    const user = await loadRegistered(handler, userId);
    const current = await openForPerson(sealer, field, user.nickname);
    return nickname === current ? undefined : sealForPerson(sealer, field, nickname);
  }
}
