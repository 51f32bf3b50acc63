import { userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import { register } from '../examples/user.js';
import { givenContext, type GivenStores } from './given-stores.js';

/** Registers the user with the id and proves the address, unless told otherwise. Returns the user and a session, which act in commands. */
export async function givenActing(
  { handler, clock }: Pick<GivenStores, 'handler' | 'clock'>,
  actorId: string,
  { isProved = true }: { readonly isProved?: boolean } = {},
) {
  const target = { aggregate: userAggregate, id: actorId };
  await handler.handle(target, register, givenContext(9_001, clock.now()));
  const { email_digest } = register;
  if (isProved)
    await handler.handle(target, { type: 'VerifyEmail', email_digest }, givenContext(9_002, clock.now()));
  return { actorId, session: sessionOf(actorId) };
}

/** Returns a session that began before any session of the user was ended. */
export function sessionOf(userId: string) {
  return { id: userId, epoch: 0 };
}
