import type { EmailChangeRequested, MailAddressChange } from '../commands/mail-address-change.js';
import type { MailOutcome } from '../domain/fields.js';
import { userCodec } from '../domain/user/events.js';
import { userCategory } from '../domain/user/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { addressChangeMessage } from '../integrations/mail/messages.js';
import { type MailDeps, makeMailReaction } from './mail-reaction.js';
import { streamIdOf } from './stream-id.js';

/** Mails the code of each change of address to the new address, until it expires. */
export function makeMailAddressChanges(
  deps: MailDeps & { readonly mailAddressChange: MailAddressChange },
): Reaction<EmailChangeRequested, MailOutcome | null> {
  const { mailAddressChange, publicUrl } = deps;
  return makeMailReaction<EmailChangeRequested>(deps, {
    name: 'mail-address-changes',
    category: userCategory,
    codec: userCodec,
    types: ['EmailChangeRequested'],
    deadline: ({ data }) => new Date(data.expires_at),
    prepare: async (event) => {
      const code = await mailAddressChange.prepare({ userId: streamIdOf(event), change: event.data });
      return code === null ? null : { to: code.to, ...addressChangeMessage({ ...code, publicUrl }) };
    },
    record: (event, outcome, context) =>
      mailAddressChange.markMailed({ userId: streamIdOf(event), change: event.data }, outcome, context),
  });
}
