import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import { nextEmailChangeAt } from '../../domain/user/email-change.js';
import { userAggregate } from '../../domain/user/user.js';
import type { AddressReservations } from '../registering/address-reservations.js';
import { checkAddress, requireMailable } from './check-address.js';
import { sealForPerson } from '../account/person-data.js';
import { loadRegistered } from '../registering/registered-user.js';
import { rejectUseCase, TooManyAttempts } from '../../../shared/rejections.js';
import { mailedCode } from '../../../../security/guessing/mailed-code.js';

export interface RequestEmailChangeInput {
  readonly userId: string;
  readonly email: string;
}

/** The life of the mailed code (src/areas/accounts/README.md#unique-address). */
export const emailChangeSeconds = mailedCode.lifeSeconds;

/**
 * Requests another address: a reaction mails a code there, and the address changes when the user confirms the code. A
 * later request replaces an earlier one.
 * @throws CommandRejected invalid_request, mail_not_configured, email_taken, address_unchanged, email_change_too_soon,
 * user_not_found; TooManyAttempts
 */
export type RequestEmailChange = (input: RequestEmailChangeInput, context: CommandContext) => Promise<void>;

export function makeRequestEmailChange({
  handler,
  reservations,
  sealer,
  digests,
  addressChangeCodes,
  mailConfigured,
  cannotMail,
}: Pick<
  AccountDeps,
  'handler' | 'sealer' | 'digests' | 'addressChangeCodes' | 'mailConfigured' | 'cannotMail'
> & {
  readonly reservations: Pick<AddressReservations, 'check'>;
}): RequestEmailChange {
  return async ({ userId, email }, context) => {
    const address = checkAddress(email);
    if (!mailConfigured)
      rejectUseCase('mail_not_configured', 'mail is not configured, so no code can be sent');
    await requireMailable({ cannotMail }, address);
    const emailDigest = digests.email(address.canonical);
    await requireWaited(userId, context.time);
    await reservations.check(emailDigest, userId);
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      {
        type: 'RequestEmailChange',
        changeId: derivedId(context, 'email-change'),
        email: await sealForPerson(sealer, { userId, field: 'email' }, address.address),
        emailDigest,
        codeKeyId: addressChangeCodes.active(),
        expiresAt: new Date(context.time.getTime() + emailChangeSeconds * 1_000),
        now: context.time,
      },
      context,
    );
  };

  /** Rejects an early request with the time to wait. `decide` rejects it too, but without the time. */
  async function requireWaited(userId: string, now: Date): Promise<void> {
    const next = nextEmailChangeAt(await loadRegistered(handler, userId), now);
    if (next === null) return;
    const waitSeconds = Math.ceil((next.getTime() - now.getTime()) / 1_000);
    throw new TooManyAttempts(waitSeconds, 'too many codes were asked for; wait before you ask for another');
  }
}
