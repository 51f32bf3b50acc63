import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { checkPasskeyName } from '../../domain/factors/passkeys.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import type { PasskeyResource } from '../../../../../projections/accounts/users/reader.js';
import type { AccountDeps } from '../../deps.js';
import { sealForPerson } from '../account/person-data.js';

interface OfPasskey {
  readonly userId: string;
  readonly passkeyId: string;
}

/** Names a passkey. @throws CommandRejected invalid_request, passkey_not_found, user_not_found */
export type RenamePasskey = (
  input: OfPasskey & { readonly name: string },
  context: CommandContext,
) => Promise<PasskeyResource>;

/**
 * Removes a passkey. When it resolves, the passkey signs in no more. With the last factor, the recovery codes end, and no session
 * meets `require_2fa`. @throws CommandRejected passkey_not_found, user_not_found
 */
export type RemovePasskey = (input: OfPasskey, context: CommandContext) => Promise<void>;

export function makeRenamePasskey({
  handler,
  sealer,
  users,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'users'>): RenamePasskey {
  return async ({ userId, passkeyId, name: given }, context) => {
    const name = await sealForPerson(sealer, { userId, field: 'passkey_name' }, checkPasskeyName(given));
    const target = { aggregate: userAggregate, id: userId };
    const { documents } = await handler.handle(target, { type: 'RenamePasskey', passkeyId, name }, context);
    const resource = await users.passkeyAfter(documents, passkeyId);
    return resource ?? rejectUser('passkey_not_found', 'you have no such passkey');
  };
}

export function makeRemovePasskey({ handler }: Pick<AccountDeps, 'handler'>): RemovePasskey {
  return async ({ userId, passkeyId }, context) => {
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'RemovePasskey', passkeyId }, context, { revokesAccess: true });
  };
}
