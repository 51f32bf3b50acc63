import type { MailOutcome } from '../../validation/fields.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import type { DomainEvent } from '../../event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { readReferenced, referenceTo } from '../../event-sourcing/feeding/set-apart.js';
import {
  contextFor,
  eventFor,
  type Reaction,
  type ReactionEvent,
} from '../../event-sourcing/effects/reaction.js';
import { inTraceOf } from '../../kit/trace.js';
import type { Clock } from '../../kit/time/clock.js';
import type { MailOutbox } from '../../mail/mail-outbox.js';
import type { MailContent } from '../../mail/mailer.js';

/** The collaborators of reactions that request mails. */
export interface MailDeps {
  readonly mails: Pick<MailOutbox, 'add'>;
  readonly eventStore: Pick<EventStore, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Origin of the service, the only link in a mail. */
  readonly publicUrl: string;
}

/**
 * Makes a reaction that requests one mail for each event (src/mail/README.md#the-outbox). The mail's id is the event's id, so all
 * copies have the same Message-ID. The outbox prepares it again at each attempt.
 */
export function makeMailReaction<Event extends DomainEvent>(
  { mails, eventStore, clock }: MailDeps,
  mail: Pick<Reaction<Event>, 'name' | 'category' | 'codec' | 'types' | 'deadline'> & {
    /** Returns the message and its recipient, with the id of the user where it is one; null when the mail is not wanted any more. */
    readonly prepare: (
      event: ReactionEvent<Event>,
    ) => Promise<(MailContent & { readonly to: string; readonly person?: string }) | null>;
    /** Appends the outcome. */
    readonly record: (
      event: ReactionEvent<Event>,
      outcome: MailOutcome,
      context: CommandContext,
    ) => Promise<void>;
  },
): Reaction<Event> {
  const { prepare, record, ...followed } = mail;
  const request = mails.add({
    name: followed.name,
    open: async ({ id, event: reference }) => {
      const stored = reference === null ? null : await readReferenced(eventStore, id, reference);
      // `types` names the events of `Event`.
      const event = stored === null ? null : (eventFor(followed, stored) as ReactionEvent<Event> | null);
      const isLate = event !== null && clock.now() >= (followed.deadline?.(event) ?? Infinity);
      const message = event === null || isLate ? null : await prepare(event);
      if (event === null || message === null) return null;
      return {
        mail: { ...message, id, to: { name: '', address: message.to } },
        record: (outcome) =>
          inTraceOf(event.metadata.correlation_id, () => record(event, outcome, contextFor(followed, event))),
      };
    },
  });
  return {
    ...followed,
    asks: async (event) => ((await prepare(event)) === null ? 'no' : 'yes'),
    conclude: async (event) => {
      const message = await prepare(event);
      // The mail stopped being wanted after `asks`.
      if (message === null) return;
      await request({ id: event.id, event: referenceTo(event), person: message.person ?? null });
    },
  };
}
