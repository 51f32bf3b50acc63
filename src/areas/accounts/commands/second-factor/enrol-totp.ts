import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { makeTotpSecret, totpUrl } from '../../../../security/tokens/totp.js';
import { openForPerson, sealForPerson } from '../account/person-data.js';
import { loadRegistered } from '../registering/registered-user.js';

export interface EnrolTotpInput {
  readonly userId: string;
}

/** The secret for an authenticator app. */
export interface TotpEnrolment {
  /** Base32. */
  readonly secret: string;
  /** The secret as an `otpauth` URL, for a QR code. */
  readonly url: string;
}

/**
 * Makes a secret for an authenticator app. Sign-in does not change until `ConfirmTotp`. A later enrolment replaces one
 * that is not confirmed. A repeated command returns the same secret.
 * @throws CommandRejected user_not_found, totp_already_on, totp_enrolment_superseded
 */
export type EnrolTotp = (input: EnrolTotpInput, context: CommandContext) => Promise<TotpEnrolment>;

export function makeEnrolTotp({
  handler,
  sealer,
  randomBytes,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'randomBytes'>): EnrolTotp {
  return async ({ userId }, context) => {
    const enrolmentId = derivedId(context, 'totp-enrolment');
    const secretField = { userId, field: 'totp_secret' };
    const sealed = await sealForPerson(sealer, secretField, makeTotpSecret(randomBytes));
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'EnrolTotp', enrolmentId, secret: sealed },
      context,
    );
    // An earlier attempt may have enrolled another secret: the log contains the user's.
    const { totp, email } = await loadRegistered(handler, userId);
    if (totp.status === 'off' || totp.enrolmentId !== enrolmentId) {
      return rejectUser('totp_enrolment_superseded', 'another enrolment has begun; use its secret');
    }
    const secret = await openForPerson(sealer, secretField, totp.secret);
    const address = await openForPerson(sealer, { userId, field: 'email' }, email);
    return { secret, url: totpUrl({ secret, address }) };
  };
}
