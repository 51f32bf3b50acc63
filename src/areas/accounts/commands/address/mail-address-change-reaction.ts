import { mailedCode } from '../../../../security/guessing/mailed-code.js';
import { userCategory, userCodec, type UserEvent } from '../../domain/user/events.js';
import { userAggregate } from '../../domain/user/user.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { addressChangeMessage } from '../../mail/messages.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { AccountDeps } from '../../deps.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';

type EmailChangeRequested = Extract<UserEvent, { type: 'EmailChangeRequested' }>;

/**
 * Mails the code of each change of address to the new address, until it expires. It mails nothing when the code was
 * mailed, used, tried too often or replaced by a later one, or when the person is erased.
 */
export function makeMailAddressChanges(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer' | 'addressChangeCodes' | 'clock'>,
): Reaction<EmailChangeRequested> {
  const { handler, sealer, addressChangeCodes, clock, publicUrl } = deps;
  return makeMailReaction<EmailChangeRequested>(deps, {
    name: 'mail-address-changes',
    category: userCategory,
    codec: userCodec,
    types: ['EmailChangeRequested'],
    deadline: ({ data }) => new Date(data.expires_at),
    prepare: async (event) => {
      const userId = streamIdOf(event);
      const { change_id: issueId, code_key_id: kid, email, email_digest: emailDigest } = event.data;
      const { state } = await handler.load(userAggregate, userId);
      const change = state.status === 'registered' ? state.emailChange : null;
      if (change?.changeId !== issueId || change.mailed) return null;
      if (change.attempts >= mailedCode.attemptsMax || change.expiresAt <= clock.now()) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', email);
      if (to === erased) return null;
      const code = addressChangeCodes.codeFor({ kid, issueId, emailDigest });
      const message = addressChangeMessage({ code, expiresAt: change.expiresAt, publicUrl });
      return { to, person: userId, ...message };
    },
    // The command is rejected when the person was erased meanwhile.
    record: async (event, outcome, context) => {
      const target = { aggregate: userAggregate, id: streamIdOf(event) };
      const changeId = event.data.change_id;
      await handler.handle(target, { type: 'MarkEmailChangeMailed', changeId, outcome }, context);
    },
  });
}
