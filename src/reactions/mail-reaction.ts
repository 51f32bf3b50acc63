import type { MailOutcome } from '../domain/fields.js';
import type { CommandContext } from '../event-sourcing/command-handler.js';
import type { DomainEvent } from '../event-sourcing/domain-event.js';
import type { Reaction, ReactionEvent } from '../event-sourcing/reaction.js';
import { MailRefused } from '../integrations/mail/errors.js';
import type { Mailer, MailMessage } from '../integrations/mail/mailer.js';

/** What reactions that send mail are given. */
export interface MailDeps {
  readonly mailer: Mailer;
  /** Origin of the service, the only link in a mail. */
  readonly publicUrl: string;
  /** Told of a mail that the server refused for good: it is recorded as refused and not sent again. */
  readonly onRefused: (reaction: string, error: MailRefused) => void;
}

/**
 * A reaction that mails something once (DESIGN 4.1, "Mail by an outbox reaction"). The mail's id is the event's, so that one
 * which is sent again after a crash has the same Message-ID.
 */
export function makeMailReaction<Event extends DomainEvent>(
  { mailer, onRefused }: MailDeps,
  mail: Pick<Reaction<Event>, 'name' | 'category' | 'codec' | 'types' | 'deadline'> & {
    /** The message and whom it is for; null when it is asked for no more. */
    readonly prepare: (
      event: ReactionEvent<Event>,
    ) => Promise<(MailMessage & { readonly to: string }) | null>;
    /** Appends what became of it. */
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
      // What asked for it came to an end at this moment.
      if (message === null) return null;
      try {
        await mailer.send({ ...message, id: event.id, to: { name: '', address: message.to } }, signal);
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
