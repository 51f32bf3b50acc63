import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { rejectUser } from '../domain/user/rejections.js';
import { userAggregate } from '../domain/user/user.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { AddressReservations } from './address-reservations.js';
import type { FinishEmailChange } from './finish-email-change.js';
import { loadRegistered } from './registered-user.js';

export interface ConfirmEmailChangeInput {
  readonly userId: string;
  readonly code: string;
}

/**
 * Changes the address, if the code is the one that was mailed to the new one: five tries, counted before they are compared
 * (DESIGN 3, "Unique address").
 * @throws CommandRejected email_change_not_pending, code_attempts_used, email_change_code_refused, email_taken,
 * user_not_found; Overloaded
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
    const { emailChange } = await loadRegistered(handler, userId);
    if (emailChange === null) {
      return rejectUser('email_change_not_pending', 'no change of address is under way');
    }
    const { changeId, codeKeyId, emailDigest } = emailChange;
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'AttemptEmailChange', changeId, now: context.time }, context);
    if (!addressChangeCodes.matches({ kid: codeKeyId, issueId: changeId, emailDigest }, code)) {
      rejectUser('email_change_code_refused', 'code: it is not the one that was mailed');
    }
    // From here on a reaction goes on where this process might stop.
    await reservations.reserve(emailDigest, { userId, changeId }, context);
    await finishEmailChange.complete({ userId, changeId, emailDigest }, context);
  };
}
