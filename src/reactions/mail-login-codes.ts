import type { LoginCodeIssued, MailLoginCode } from '../commands/mail-login-code.js';
import type { MailOutcome } from '../domain/fields.js';
import { loginCodeCodec } from '../domain/login-code/events.js';
import { loginCodeCategory } from '../domain/login-code/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { loginCodeMessage } from '../integrations/mail/messages.js';
import { type MailDeps, makeMailReaction } from './mail-reaction.js';
import { streamIdOf } from './stream-id.js';

/** Mails each code that was issued for signing in, until it expires. */
export function makeMailLoginCodes(
  deps: MailDeps & { readonly mailLoginCode: MailLoginCode },
): Reaction<LoginCodeIssued, MailOutcome | null> {
  const { mailLoginCode, publicUrl } = deps;
  return makeMailReaction<LoginCodeIssued>(deps, {
    name: 'mail-login-codes',
    category: loginCodeCategory,
    codec: loginCodeCodec,
    types: ['LoginCodeIssued'],
    deadline: ({ data }) => new Date(data.expires_at),
    prepare: async (event) => {
      const code = await mailLoginCode.prepare({ emailDigest: streamIdOf(event), issue: event.data });
      return code === null ? null : { to: code.to, ...loginCodeMessage({ ...code, publicUrl }) };
    },
    record: (event, outcome, context) =>
      mailLoginCode.markMailed({ emailDigest: streamIdOf(event), issue: event.data }, outcome, context),
  });
}
