import type { AccountDeps } from '../../deps.js';
import { derivedId, stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { parseSixDigits } from '../../../../keys/codes/agent-secrets.js';
import { mailedCode } from '../../../../security/guessing/mailed-code.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import { emailAggregate } from '../../domain/email/email.js';
import type { EmailEvent } from '../../domain/email/events.js';
import { nextEmailChangeAt } from '../../domain/user/email-change.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { leavingAddress, revertibleUntil } from '../../domain/user/revert.js';
import { userAggregate } from '../../domain/user/user.js';
import { addressChangeMessage } from '../../mail/messages.js';
import type { AddressReservations } from './address-reservations.js';
import { type PresentedCode, type VerificationIssues, tooMany, whenUsedUp } from './email-verification.js';
import { checkAddress, loadRegistered, requireMailable, sealForPerson } from '../finding.js';

/** A change whose mailed code was right, and whose new address is reserved. */
interface ReservedChange {
  readonly userId: string;
  readonly change_id: string;
  /** Of the new address. */
  readonly email_digest: string;
}

type EmailChangeCommands = ReturnType<typeof makeEmailChangeCommands>;

/** Makes the use cases that change the address of an account (src/areas/accounts/README.md#unique-address). */
export function makeEmailChangeCommands(
  deps: Pick<
    AccountDeps,
    | 'handler'
    | 'sealer'
    | 'digests'
    | 'addressChangeCodes'
    | 'addressRevertCodes'
    | 'mailConfigured'
    | 'cannotMail'
  > & {
    readonly reservations: AddressReservations;
    readonly verificationIssues: Pick<VerificationIssues, 'count'>;
  },
) {
  const { handler, reservations, verificationIssues, sealer, digests } = deps;
  const { addressChangeCodes, addressRevertCodes, mailConfigured, cannotMail } = deps;
  return {
    /**
     * Requests another address: a reaction mails a code there, and the address changes when the user confirms the code. A
     * later request replaces an earlier one. Returns the life of the code, and when another may be asked for, in seconds.
     * @throws CommandRejected invalid_request, mail_not_configured, email_taken, address_unchanged, email_change_too_soon,
     * user_not_found; TooManyAttempts
     */
    requestEmailChange: async (
      { userId, email }: { readonly userId: string; readonly email: string },
      context: CommandContext,
    ) => {
      const address = checkAddress(email);
      if (!mailConfigured)
        rejectUseCase('mail_not_configured', 'mail is not configured, so no code can be sent');
      await requireMailable({ cannotMail }, address);
      const email_digest = digests.email(address.canonical);
      // `decide` rejects an early request too, but without the time to wait.
      const next = nextEmailChangeAt(await loadRegistered(handler, userId), context.time);
      if (next !== null) throw tooMany((next.getTime() - context.time.getTime()) / 1_000);
      await reservations.check(email_digest, userId);
      // The address may be a stranger's: its mails are bounded over all accounts.
      const verdict = await verificationIssues.count(email_digest);
      if (!verdict.allowed) throw tooMany(verdict.retryAfterSeconds);
      const change = {
        change_id: derivedId(context, 'email-change'),
        email: await sealForPerson(sealer, { userId, field: 'email' }, address.address),
        email_digest,
        code_key_id: addressChangeCodes.active(),
        expires_at: new Date(context.time.getTime() + mailedCode.lifeSeconds * 1_000).toISOString(),
      };
      const command = { type: 'RequestEmailChange', ...change, now: context.time } as const;
      await handler.handle(userAggregate.at(userId), command, context);
      return { expires_in: mailedCode.lifeSeconds, resend_after: mailedCode.resendSeconds };
    },
    /**
     * Changes the address, if the code is the one that was mailed to the new address. Each of the five attempts is counted
     * before the comparison, but a text that cannot be a code is none.
     * @throws CommandRejected email_change_not_pending, email_change_code_refused, email_taken, session_ended,
     * user_not_found; TooManyAttempts; Overloaded
     */
    confirmEmailChange: async (
      { userId, session, code }: PresentedCode,
      context: CommandContext,
    ): Promise<void> => {
      const user = await loadRegistered(handler, userId);
      const { emailChange } = user;
      if (emailChange === null)
        return rejectUser('email_change_not_pending', 'no change of address is under way');
      if (parseSixDigits(code) === null) refuseCode();
      const { change_id, code_key_id, email_digest } = emailChange;
      const attempt = { type: 'AttemptEmailChange', change_id, session, now: context.time } as const;
      const usedUp = whenUsedUp(nextEmailChangeAt(user, context.time), context.time);
      await handler.handle(userAggregate.at(userId), attempt, context).catch(usedUp);
      if (!addressChangeCodes.matches({ kid: code_key_id, issue_id: change_id, email_digest }, code))
        refuseCode();
      // From here on, a reaction completes the change if this process crashes.
      await reservations.reserve(email_digest, { userId, change_id }, context);
      await complete({ userId, change_id, email_digest }, context);
    },
    /** Completes a change after the reservation of the new address. */
    finishEmailChange: {
      /** Says whether the change is pending, or its reservation is left over. */
      isOpen: async (change: ReservedChange): Promise<boolean> =>
        (await isPending(change)) || (await reservations.isLeft(change.email_digest, change.userId)),
      /** Completes a pending change; otherwise releases a reservation that is left over. */
      finish: async (change: ReservedChange, context: CommandContext): Promise<void> => {
        if (await isPending(change)) await complete(change, context);
        await reservations.release(change.email_digest, change.userId, context);
      },
    },
  };

  /**
   * Gives the address to the user; a repetition changes nothing.
   * @throws CommandRejected email_change_not_pending where the user has requested another change; user_not_found
   */
  async function complete({ userId, ...change }: ReservedChange, context: CommandContext): Promise<void> {
    await handler.handle(
      userAggregate.at(userId),
      { type: 'CompleteEmailChange', ...change, code_key_id: addressRevertCodes.active(), now: context.time },
      stepContext(context, 'complete-email-change'),
    );
  }

  async function isPending({ userId, change_id }: ReservedChange): Promise<boolean> {
    const { state } = await handler.load(userAggregate, userId);
    return state.status === 'registered' && state.emailChange?.change_id === change_id;
  }
}

function refuseCode(): never {
  return rejectUser('email_change_code_refused', 'code is not the one that was mailed');
}

/** Completes address changes that stopped after the reservation: src/areas/accounts/README.md#unique-address. */
export const finishEmailChanges = ({ finishEmailChange }: Pick<EmailChangeCommands, 'finishEmailChange'>) =>
  on(emailAggregate, ['EmailReserved'], {
    name: 'finish-email-change',
    isDue: async (email_digest, event) => {
      const change = changeOf(email_digest, event);
      return change !== null && (await finishEmailChange.isOpen(change));
    },
    run: async (email_digest, context, event) => {
      const change = changeOf(email_digest, event);
      if (change !== null) await finishEmailChange.finish(change, context);
    },
  });

/** Null for the reservation of a registration. */
function changeOf(
  email_digest: string,
  { data: { user_id: userId, change_id } }: Extract<EmailEvent, { type: 'EmailReserved' }>,
): ReservedChange | null {
  return change_id === null ? null : { userId, change_id, email_digest };
}

/**
 * Releases the address that a user had before a change, once the change can no longer be undone, and the address that a
 * revert replaces, at once. A change has a timer of 72 h. A registration that needs an overdue address does not wait for
 * its release.
 */
export const releaseLeftAddresses = ({
  reservations,
  clock,
}: Pick<AccountDeps, 'clock'> & {
  readonly reservations: Pick<AddressReservations, 'isLeft' | 'isOverdue' | 'release'>;
}) =>
  on(userAggregate, leavingAddress, {
    name: 'release-left-addresses',
    hasTimers: true,
    isDue: async (userId, event) => {
      const until = revertibleUntil(event);
      // Its streams are read only when it is due: a waiting change costs no reads.
      if (until !== null && clock.now() < until) return { notBefore: until };
      const digest = event.data.previous_email_digest;
      return (await reservations.isOverdue(digest, userId)) || (await reservations.isLeft(digest, userId));
    },
    run: (userId, context, { data }) => reservations.release(data.previous_email_digest, userId, context),
  });

/**
 * Mails the code of each change of address to the new address, until it expires. It mails nothing when the code was
 * mailed, used, tried too often or replaced by a later one, or when the person is erased.
 */
export function mailAddressChanges(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer' | 'addressChangeCodes' | 'clock'>,
) {
  const { handler, sealer, addressChangeCodes, clock, publicUrl } = deps;
  return makeMailReaction(deps, userAggregate, ['EmailChangeRequested'], {
    name: 'mail-address-changes',
    deadline: ({ data }) => new Date(data.expires_at),
    prepare: async (userId, event) => {
      const { change_id: issue_id, code_key_id: kid, email, email_digest } = event.data;
      const { state } = await handler.load(userAggregate, userId);
      const change = state.status === 'registered' ? state.emailChange : null;
      if (change?.change_id !== issue_id || change.mailed) return null;
      if (change.attempts >= mailedCode.attemptsMax) return null;
      if (new Date(change.expires_at) <= clock.now()) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', email);
      const code = addressChangeCodes.codeFor({ kid, issue_id, email_digest });
      const message = addressChangeMessage({ code, expires_at: change.expires_at, publicUrl });
      return { to, person: userId, ...message };
    },
    // The command is rejected when the person was erased meanwhile.
    record: (id, { data: { change_id } }, outcome, context) =>
      handler.handle(userAggregate.at(id), { type: 'MarkEmailChangeMailed', change_id, outcome }, context),
  });
}
