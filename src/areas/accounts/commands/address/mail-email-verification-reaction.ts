import { mailedCode } from '../../../../security/guessing/mailed-code.js';
import { userCategory, userCodec, type UserEvent } from '../../domain/user/events.js';
import { userAggregate } from '../../domain/user/user.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { emailVerificationMessage } from '../../mail/messages.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { AccountDeps } from '../../deps.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';

type EmailVerificationRequested = Extract<UserEvent, { type: 'EmailVerificationRequested' }>;

/**
 * Mails the code that proves the address of an account, until it expires. It mails nothing when the code was mailed,
 * tried too often or replaced by a later one, when the address is proved or another one, or when the account is banned
 * or erased.
 */
export function makeMailEmailVerifications(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer' | 'verificationCodes' | 'clock'>,
): Reaction<EmailVerificationRequested> {
  const { handler, sealer, verificationCodes, clock, publicUrl } = deps;
  return makeMailReaction<EmailVerificationRequested>(deps, {
    name: 'mail-email-verifications',
    category: userCategory,
    codec: userCodec,
    types: ['EmailVerificationRequested'],
    deadline: ({ data }) => new Date(data.expires_at),
    prepare: async (event) => {
      const userId = streamIdOf(event);
      const { verification_id: issueId, code_key_id: kid, email_digest: emailDigest } = event.data;
      const { state: user } = await handler.load(userAggregate, userId);
      if (user.status !== 'registered' || user.email_verified || user.banned) return null;
      const { verification } = user;
      if (verification?.verificationId !== issueId || verification.mailed) return null;
      if (user.email_digest !== emailDigest || verification.attempts >= mailedCode.attemptsMax) return null;
      if (verification.expiresAt <= clock.now()) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', user.email);
      if (to === erased) return null;
      const code = verificationCodes.codeFor({ kid, issueId, emailDigest });
      const message = emailVerificationMessage({ code, expiresAt: verification.expiresAt, publicUrl });
      return { to, person: userId, ...message };
    },
    // The command is rejected when the person was erased meanwhile.
    record: async (event, outcome, context) => {
      const target = { aggregate: userAggregate, id: streamIdOf(event) };
      const verificationId = event.data.verification_id;
      await handler.handle(target, { type: 'MarkEmailVerificationMailed', verificationId, outcome }, context);
    },
  });
}
