import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import { rejectUser } from '../domain/user/rejections.js';
import { userAggregate } from '../domain/user/user.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import type { Sealer } from '../keys/sealer.js';
import { makeTotpSecret, totpUrl } from '../security/totp.js';
import { openForPerson, sealForPerson } from './person-data.js';
import { loadRegistered } from './registered-user.js';

export interface EnrolTotpInput {
  readonly userId: string;
}

/** What an authenticator app is given; shown this one time. */
export interface TotpEnrolment {
  /** Base32. */
  readonly secret: string;
  /** The same for a QR code. */
  readonly url: string;
}

/**
 * Makes a secret for an authenticator app. Nothing changes for signing in until its first code is confirmed, and a later
 * enrolment replaces one that was not. A repeated command gives the same secret.
 * @throws CommandRejected user_not_found, totp_already_on, totp_enrolment_superseded
 */
export type EnrolTotp = (input: EnrolTotpInput, context: CommandContext) => Promise<TotpEnrolment>;

export function makeEnrolTotp({
  handler,
  sealer,
  randomBytes,
}: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'seal' | 'open'>;
  readonly randomBytes: RandomBytes;
}): EnrolTotp {
  return async ({ userId }, context) => {
    const enrolmentId = derivedId(context, 'totp-enrolment');
    const secretField = { userId, field: 'totp_secret' };
    const sealed = await sealForPerson(sealer, secretField, makeTotpSecret(randomBytes));
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'EnrolTotp', enrolmentId, secret: sealed },
      context,
    );
    // An earlier try may have enrolled another secret: the log says which one is the user's.
    const { totp, email } = await loadRegistered(handler, userId);
    if (totp.status === 'off' || totp.enrolmentId !== enrolmentId) {
      return rejectUser('totp_enrolment_superseded', 'another enrolment has begun; use its secret');
    }
    const secret = await openForPerson(sealer, secretField, totp.secret);
    const address = await openForPerson(sealer, { userId, field: 'email' }, email);
    return { secret, url: totpUrl({ secret, address }) };
  };
}
