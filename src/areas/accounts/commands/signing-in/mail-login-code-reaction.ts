import { loginCodeCategory, loginCodeCodec, type LoginCodeEvent } from '../../domain/login-code/events.js';
import { findIssue, isIssueOpen, loginCodeAggregate } from '../../domain/login-code/login-code.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { loginCodeMessage } from '../../mail/messages.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { AccountDeps } from '../../deps.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';

type LoginCodeIssued = Extract<LoginCodeEvent, { type: 'LoginCodeIssued' }>;

/**
 * Mails each code that signs in, until it expires. It mails nothing when the code was mailed, used, tried too often or
 * replaced by a later one, or when the person is erased.
 */
export function makeMailLoginCodes(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer' | 'loginCodes' | 'strongLoginCodes' | 'clock'>,
): Reaction<LoginCodeIssued> {
  const { handler, sealer, loginCodes, strongLoginCodes, clock, publicUrl } = deps;
  return makeMailReaction<LoginCodeIssued>(deps, {
    name: 'mail-login-codes',
    category: loginCodeCategory,
    codec: loginCodeCodec,
    types: ['LoginCodeIssued'],
    deadline: ({ data }) => new Date(data.expires_at),
    prepare: async (event) => {
      const emailDigest = streamIdOf(event);
      const { issue_id: issueId, user_id: userId, code_key_id: kid, email } = event.data;
      const { state } = await handler.load(loginCodeAggregate, emailDigest);
      const issue = findIssue(state, issueId);
      if (issue === null || issue.mailed || !isIssueOpen(issue, issue.requester, clock.now())) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', email);
      if (to === erased) return null;
      const codes = event.data.strong ? strongLoginCodes : loginCodes;
      const code = codes.codeFor({ kid, issueId, emailDigest });
      const message = loginCodeMessage({ code, expiresAt: issue.expiresAt, publicUrl });
      return { to, person: userId, ...message };
    },
    record: async (event, outcome, context) => {
      const target = { aggregate: loginCodeAggregate, id: streamIdOf(event) };
      await handler.handle(target, { type: 'MarkMailed', issueId: event.data.issue_id, outcome }, context);
    },
  });
}
