import type { LoginCodeEvent } from '../domain/login-code/events.js';
import type { MailOutcome } from '../domain/fields.js';
import { isOpen, loginCodeAggregate } from '../domain/login-code/login-code.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { MailedCodes } from '../keys/login-codes.js';
import { erased, type Sealer } from '../keys/sealer.js';

export type LoginCodeIssued = Extract<LoginCodeEvent, { type: 'LoginCodeIssued' }>;

/** A code on its way to an address. */
export interface CodeToMail {
  readonly to: string;
  /** Six digits. */
  readonly code: string;
  readonly expiresAt: Date;
}

/** A code that was issued, and the address (its keyed digest) it is for. */
export interface IssuedLoginCode {
  readonly emailDigest: string;
  readonly issue: LoginCodeIssued['data'];
}

/** Mails the codes that sign in. */
export interface MailLoginCode {
  /**
   * What is to be mailed; null when nothing is asked any more: the code was mailed, used, tried too often, replaced by a
   * later one, or has expired, or the person is erased. @throws StoreUnavailable, KeyMissing
   */
  prepare(issued: IssuedLoginCode): Promise<CodeToMail | null>;
  /** Records what became of it, once. @throws StoreUnavailable */
  markMailed(issued: IssuedLoginCode, outcome: MailOutcome, context: CommandContext): Promise<void>;
}

export function makeMailLoginCode(deps: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly loginCodes: MailedCodes;
  readonly clock: Clock;
}): MailLoginCode {
  const { handler, sealer, loginCodes, clock } = deps;
  return {
    prepare: async ({ emailDigest, issue }) => {
      const { state } = await handler.load(loginCodeAggregate, emailDigest);
      const current = state.issue;
      if (current?.issueId !== issue.issue_id || current.mailed || !isOpen(current, clock.now())) return null;
      const to = await sealer.open({ kind: 'person', userId: issue.user_id }, 'email', issue.email);
      if (to === erased) return null;
      const code = loginCodes.codeFor({ kid: issue.code_key_id, issueId: issue.issue_id, emailDigest });
      return { to, code, expiresAt: current.expiresAt };
    },
    markMailed: async ({ emailDigest, issue }, outcome, context) => {
      const target = { aggregate: loginCodeAggregate, id: emailDigest };
      await handler.handle(target, { type: 'MarkMailed', issueId: issue.issue_id, outcome }, context);
    },
  };
}
