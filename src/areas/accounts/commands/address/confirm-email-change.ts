import type { AccountDeps } from '../../deps.js';
import { parseSixDigits } from '../../../../keys/codes/typed-code.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { nextEmailChangeAt } from '../../domain/user/email-change.js';
import { rejectUser, type UserRejection } from '../../domain/user/rejections.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import type { AddressReservations } from '../registering/address-reservations.js';
import type { FinishEmailChange } from './finish-email-change.js';
import { loadRegistered } from '../registering/registered-user.js';
import { isRejection, TooManyAttempts } from '../../../shared/rejections.js';

export interface ConfirmEmailChangeInput {
  readonly userId: string;
  readonly code: string;
}

/**
 * Changes the address, if the code is the one that was mailed to the new address. Each of the five attempts is counted
 * before the comparison, but a text that cannot be a code is none (src/areas/accounts/README.md#unique-address).
 * @throws CommandRejected email_change_not_pending, email_change_code_refused, email_taken, user_not_found;
 * TooManyAttempts; Overloaded
 */
export type ConfirmEmailChange = (input: ConfirmEmailChangeInput, context: CommandContext) => Promise<void>;

export function makeConfirmEmailChange({
  handler,
  reservations,
  addressChangeCodes,
  finishEmailChange,
}: Pick<AccountDeps, 'handler' | 'addressChangeCodes'> & {
  readonly reservations: Pick<AddressReservations, 'reserve'>;
  readonly finishEmailChange: Pick<FinishEmailChange, 'complete'>;
}): ConfirmEmailChange {
  return async ({ userId, code }, context) => {
    const user = await loadRegistered(handler, userId);
    const { emailChange } = user;
    if (emailChange === null) {
      return rejectUser('email_change_not_pending', 'no change of address is under way');
    }
    if (parseSixDigits(code) === null) refuseCode();
    const { changeId, codeKeyId, emailDigest } = emailChange;
    const target = { aggregate: userAggregate, id: userId };
    const attempt = { type: 'AttemptEmailChange', changeId, now: context.time } as const;
    await handler.handle(target, attempt, context).catch((error: unknown) => {
      // This code stays refused, so the reply says when the client may request another.
      if (isRejection<UserRejection>(error, 'code_attempts_used')) throw codeUsedUp(user, context.time);
      throw error;
    });
    if (!addressChangeCodes.matches({ kid: codeKeyId, issueId: changeId, emailDigest }, code)) refuseCode();
    // From here on, a reaction completes the change if this process crashes.
    await reservations.reserve(emailDigest, { userId, changeId }, context);
    await finishEmailChange.complete({ userId, changeId, emailDigest }, context);
  };
}

function refuseCode(): never {
  return rejectUser('email_change_code_refused', 'code is not the one that was mailed');
}

function codeUsedUp(user: RegisteredUser, now: Date): TooManyAttempts {
  const waitMs = (nextEmailChangeAt(user, now)?.getTime() ?? now.getTime()) - now.getTime();
  return new TooManyAttempts(Math.ceil(waitMs / 1_000), 'the code was tried too often; ask for another');
}
