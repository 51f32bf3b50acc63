import type { AccountDeps } from '../../deps.js';
import type { HandleOptions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import type { Versioned } from '../../../../event-sourcing/views/views.js';
import { checkNickname } from '../../domain/user/nickname.js';
import { userAggregate } from '../../domain/user/user.js';
import type { UserResource } from '../../../../../projections/accounts/users/reader.js';
import { openForPerson, sealForPerson } from './person-data.js';
import { loadRegistered } from '../registering/registered-user.js';

export interface ChangeProfileInput {
  readonly userId: string;
  /** Undefined: no change. */
  readonly nickname: string | undefined;
}

/** Changes a profile's given fields. @throws CommandRejected invalid_request, user_not_found; PreconditionFailed */
export type ChangeProfile = (
  input: ChangeProfileInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<UserResource>>;

export function makeChangeProfile({
  handler,
  sealer,
  users,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'users'>): ChangeProfile {
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

  /** Returns undefined for the current nickname: sealed again, it would look like a change. */
  async function sealChanged(userId: string, nickname: string): Promise<Sealed | undefined> {
    const field = { userId, field: 'nickname' };
    const user = await loadRegistered(handler, userId);
    const current = await openForPerson(sealer, field, user.nickname);
    return nickname === current ? undefined : sealForPerson(sealer, field, nickname);
  }
}
