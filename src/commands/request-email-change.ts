import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import { nextEmailChangeAt } from '../domain/user/email-change.js';
import { userAggregate } from '../domain/user/user.js';
import type { Digests } from '../keys/digests.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { Sealer } from '../keys/sealer.js';
import type { AddressReservations } from './address-reservations.js';
import { checkAddress } from './check-address.js';
import { sealForPerson } from './person-data.js';
import { loadRegistered } from './registered-user.js';
import { rejectUseCase, TooManyAttempts } from './rejections.js';

export interface RequestEmailChangeInput {
  readonly userId: string;
  readonly email: string;
}

/** How long the mailed code is good for, in seconds (DESIGN 4.1). */
export const emailChangeSeconds = 600;

/**
 * Asks for another address: a code is mailed there, and nothing changes before it is typed. A later request replaces an
 * earlier one.
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
}: {
  readonly handler: CommandHandler;
  readonly reservations: Pick<AddressReservations, 'check'>;
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly digests: Pick<Digests, 'email'>;
  readonly addressChangeCodes: Pick<MailedCodes, 'active'>;
  readonly mailConfigured: boolean;
}): RequestEmailChange {
  return async ({ userId, email }, context) => {
    const address = checkAddress(email);
    if (!mailConfigured)
      rejectUseCase('mail_not_configured', 'mail is not configured, so no code can be sent');
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

  /** Decided again by the append; here it is known how long the wait is. */
  async function requireWaited(userId: string, now: Date): Promise<void> {
    const next = nextEmailChangeAt(await loadRegistered(handler, userId), now);
    if (next === null) return;
    const waitSeconds = Math.ceil((next.getTime() - now.getTime()) / 1_000);
    throw new TooManyAttempts(waitSeconds, 'too many codes were asked for; wait before you ask for another');
  }
}
