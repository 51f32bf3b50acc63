import type { MailOutcome } from '../domain/fields.js';
import type { UserEvent } from '../domain/user/events.js';
import { codeAttemptsMax } from '../domain/user/email-change.js';
import { userAggregate } from '../domain/user/user.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { MailedCodes } from '../keys/login-codes.js';
import { erased, type Sealer } from '../keys/sealer.js';
import type { CodeToMail } from './mail-login-code.js';

export type EmailChangeRequested = Extract<UserEvent, { type: 'EmailChangeRequested' }>;

/** A change of address that was asked for, and whose. */
export interface RequestedEmailChange {
  readonly userId: string;
  readonly change: EmailChangeRequested['data'];
}

/** Mails the codes that confirm a new address, to that address. */
export interface MailAddressChange {
  /**
   * What is to be mailed; null when nothing is asked any more: the code was mailed, has done its work, was tried too
   * often, replaced by a later one, or has expired, or the person is erased. @throws StoreUnavailable, KeyMissing
   */
  prepare(requested: RequestedEmailChange): Promise<CodeToMail | null>;
  /** Records what became of it, once. @throws CommandRejected once the person is erased; StoreUnavailable */
  markMailed(requested: RequestedEmailChange, outcome: MailOutcome, context: CommandContext): Promise<void>;
}

export function makeMailAddressChange(deps: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly addressChangeCodes: MailedCodes;
  readonly clock: Clock;
}): MailAddressChange {
  const { handler, sealer, addressChangeCodes, clock } = deps;
  return {
    prepare: async ({ userId, change }) => {
      const { state } = await handler.load(userAggregate, userId);
      const current = state.status === 'registered' ? state.emailChange : null;
      if (current?.changeId !== change.change_id || current.mailed) return null;
      if (current.attempts >= codeAttemptsMax || current.expiresAt <= clock.now()) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', change.email);
      if (to === erased) return null;
      const issue = { issueId: change.change_id, emailDigest: change.email_digest };
      const code = addressChangeCodes.codeFor({ kid: change.code_key_id, ...issue });
      return { to, code, expiresAt: current.expiresAt };
    },
    markMailed: async ({ userId, change }, outcome, context) => {
      const target = { aggregate: userAggregate, id: userId };
      await handler.handle(
        target,
        { type: 'MarkEmailChangeMailed', changeId: change.change_id, outcome },
        context,
      );
    },
  };
}
