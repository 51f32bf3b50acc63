import type { MailOutcome } from '../../validation/fields.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import type { DomainEvent } from '../../event-sourcing/ports/domain-event.js';
import type { Reaction, ReactionEvent } from '../../event-sourcing/effects/reaction.js';
import { MailRefused } from '../../mail/errors.js';
import type { MailContent, Mailer } from '../../mail/mailer.js';

/** The collaborators of reactions that send mail. */
export interface MailDeps {
  readonly mailer: Pick<Mailer, 'send'>;
  /** Origin of the service, the only link in a mail. */
  readonly publicUrl: string;
  /** Reports a mail that the server refused permanently. It is recorded as refused and not sent again. */
  readonly onRefused: (reaction: string, error: MailRefused) => void;
}

/**
 * Makes a reaction that mails one message for each event (src/areas/accounts/commands/README.md#email-codes). The mail's id is the event's id,
 * so a mail that is repeated after a crash has the same Message-ID.
 */
export function makeMailReaction<Event extends DomainEvent>(
  { mailer, onRefused }: MailDeps,
  mail: Pick<Reaction<Event>, 'name' | 'category' | 'codec' | 'types' | 'deadline'> & {
    /** Returns the message and its recipient; null when the mail is no longer wanted. */
    readonly prepare: (
      event: ReactionEvent<Event>,
    ) => Promise<(MailContent & { readonly to: string }) | null>;
    /** Appends the outcome. */
    readonly record: (
      event: ReactionEvent<Event>,
      outcome: MailOutcome,
      context: CommandContext,
    ) => Promise<void>;
  },
): Reaction<Event, MailOutcome | null> {
  const { prepare, record, ...followed } = mail;
  return {
    ...followed,
    asks: async (event) => ((await prepare(event)) === null ? 'no' : 'yes'),
    perform: async (event, signal) => {
      const message = await prepare(event);
      // The mail stopped being wanted after `asks`.
      if (message === null) return null;
      try {
        const outgoing = { ...message, id: event.id, to: { name: '', address: message.to } };
        await mailer.send(outgoing, signal, () => Promise.resolve());
        return 'accepted';
      } catch (error) {
        if (!(error instanceof MailRefused)) throw error;
        onRefused(followed.name, error);
        return 'refused';
      }
    },
    conclude: async (event, context, outcome) => {
      if (outcome !== null) await record(event, outcome, context);
    },
  };
}
