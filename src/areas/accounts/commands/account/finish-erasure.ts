import type { Holdings } from './holdings.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { sessionAggregate } from '../../domain/session/session.js';
import { userAggregate } from '../../domain/user/user.js';
import type { KnownDevices } from '../signing-in/known-devices.js';
import type { AddressReservations } from '../registering/address-reservations.js';
import { everyId } from '../../../shared/every-id.js';

export interface FinishErasureInput {
  readonly userId: string;
}

/**
 * Completes an erasure after UserErased (src/areas/accounts/README.md#erasure): destroys the person's data key, revokes the sessions,
 * ends the memberships and the API keys that the user issued, forgets the known devices, releases its addresses. Every
 * step is idempotent. It does
 * nothing while the user is not erased.
 * @throws StoreUnavailable
 */
export type FinishErasure = (input: FinishErasureInput, context: CommandContext) => Promise<void>;

export function makeFinishErasure({
  handler,
  sealer,
  sessions,
  holdings,
  reservations,
  knownDevices,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'sessions'> & {
  readonly holdings: Holdings;
  readonly reservations: Pick<AddressReservations, 'release'>;
  readonly knownDevices: Pick<KnownDevices, 'forget'>;
}): FinishErasure {
  return async ({ userId }, context) => {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'erased') return;
    await sealer.destroy({ kind: 'person', userId });
    for await (const id of everyId((page) => sessions.ids(userId, page))) {
      const target = { aggregate: sessionAggregate, id };
      await handler.handle(target, { type: 'Revoke', reason: 'user_erased' }, context);
    }
    await holdings.removeErasedMember(userId, context);
    await knownDevices.forget(userId);
    for (const emailDigest of [user.emailDigest, ...user.formerDigests]) {
      await reservations.release(emailDigest, userId, context);
    }
  };
}
