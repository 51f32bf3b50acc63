import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import type { Sealed } from '../event-sourcing/sealed.js';
import type { Versioned } from '../event-sourcing/views.js';
import { checkNickname } from '../domain/user/nickname.js';
import { userAggregate } from '../domain/user/user.js';
import type { Sealer } from '../keys/sealer.js';
import type { UserReader, UserResource } from '../../projections/users/reader.js';
import { openForPerson, sealForPerson } from './person-data.js';
import { loadRegistered } from './registered-user.js';

export interface ChangeProfileInput {
  readonly userId: string;
  /** Undefined: it stays. */
  readonly nickname: string | undefined;
}

/** Changes what is given of one's profile. @throws CommandRejected invalid_request, user_not_found; PreconditionFailed */
export type ChangeProfile = (
  input: ChangeProfileInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<UserResource>>;

export function makeChangeProfile({
  handler,
  sealer,
  users,
}: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'seal' | 'open'>;
  readonly users: Pick<UserReader, 'after'>;
}): ChangeProfile {
  return async ({ userId, nickname: given }, context, options) => {
    const nickname = given === undefined ? undefined : await sealChanged(userId, checkNickname(given));
    const { documents } = await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'ChangeProfile', nickname },
      context,
      options,
    );
    return users.after(documents);
  };

  /** Undefined for the nickname that the user has: sealed anew it would look like another. */
  async function sealChanged(userId: string, nickname: string): Promise<Sealed | undefined> {
    const field = { userId, field: 'nickname' };
    const user = await loadRegistered(handler, userId);
    const current = await openForPerson(sealer, field, user.nickname);
    return nickname === current ? undefined : sealForPerson(sealer, field, nickname);
  }
}
