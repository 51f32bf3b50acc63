import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { nextEmailChangeAt } from '../domain/user/email-change.js';
import { rejectUser } from '../domain/user/rejections.js';
import { type RegisteredUser, userAggregate } from '../domain/user/user.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { AddressReservations } from './address-reservations.js';
import type { FinishEmailChange } from './finish-email-change.js';
import { loadRegistered } from './registered-user.js';
import { isRejection, TooManyAttempts } from './rejections.js';

export interface ConfirmEmailChangeInput {
  readonly userId: string;
  readonly code: string;
}

/**
 * Changes the address, if the code is the one that was mailed to the new one: five tries, counted before they are compared
 * (DESIGN 3, "Unique address").
 * @throws CommandRejected email_change_not_pending, email_change_code_refused, email_taken, user_not_found;
 * TooManyAttempts; Overloaded
 */
export type ConfirmEmailChange = (input: ConfirmEmailChangeInput, context: CommandContext) => Promise<void>;

export function makeConfirmEmailChange({
  handler,
  reservations,
  addressChangeCodes,
  finishEmailChange,
}: {
  readonly handler: CommandHandler;
  readonly reservations: Pick<AddressReservations, 'reserve'>;
  readonly addressChangeCodes: Pick<MailedCodes, 'matches'>;
  readonly finishEmailChange: Pick<FinishEmailChange, 'complete'>;
}): ConfirmEmailChange {
  return async ({ userId, code }, context) => {
    const user = await loadRegistered(handler, userId);
    const { emailChange } = user;
    if (emailChange === null) {
      return rejectUser('email_change_not_pending', 'no change of address is under way');
    }
    const { changeId, codeKeyId, emailDigest } = emailChange;
    const target = { aggregate: userAggregate, id: userId };
    const attempt = { type: 'AttemptEmailChange', changeId, now: context.time } as const;
    await handler.handle(target, attempt, context).catch((error: unknown) => {
      // Waiting does not help this code: it is told when another can be asked for.
      if (isRejection(error, 'code_attempts_used')) throw codeUsedUp(user, context.time);
      throw error;
    });
    if (!addressChangeCodes.matches({ kid: codeKeyId, issueId: changeId, emailDigest }, code)) {
      rejectUser('email_change_code_refused', 'code: it is not the one that was mailed');
    }
    // From here on a reaction goes on where this process might stop.
    await reservations.reserve(emailDigest, { userId, changeId }, context);
    await finishEmailChange.complete({ userId, changeId, emailDigest }, context);
  };
}

function codeUsedUp(user: RegisteredUser, now: Date): TooManyAttempts {
  const waitMs = (nextEmailChangeAt(user, now)?.getTime() ?? now.getTime()) - now.getTime();
  return new TooManyAttempts(Math.ceil(waitMs / 1_000), 'the code was tried too often; ask for another');
}
