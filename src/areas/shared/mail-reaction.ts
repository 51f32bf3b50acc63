import type { MailOutcome } from '../../validation/fields.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { type DomainEvent, streamIdOf } from '../../event-sourcing/ports/domain-event.js';
import type { Aggregate } from '../../event-sourcing/deciding/command-handler.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { readReferenced, referenceTo } from '../../event-sourcing/feeding/quarantine.js';
import {
  contextFor,
  eventFor,
  type Reaction,
  type ReactionEvent,
} from '../../event-sourcing/effects/reaction.js';
import { erased } from '../../keys/sealing/sealer.js';
import { inTraceOf } from '../../kit/trace.js';
import { type Clock, isRecent } from '../../kit/time/clock.js';
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

/** A log is short for less: see `EventStore.shortLogMs`. */
const shortMs = 60_000;

/**
 * Makes a reaction that requests one mail for each event (src/mail/README.md#the-outbox). The mail's id is the event's id, so all
 * copies have the same Message-ID. The outbox prepares it again at each attempt. Its functions get the id of the stream.
 */
export function makeMailReaction<Event extends DomainEvent, const Type extends Event['type']>(
  { mails, eventStore, clock }: MailDeps,
  aggregate: Pick<Aggregate<unknown, unknown, Event>, 'category' | 'codec'>,
  types: readonly Type[],
  mail: Mail<Extract<Event, { readonly type: Type }>>,
): Reaction<Extract<Event, { readonly type: Type }>> {
  type Mailed = ReactionEvent<Extract<Event, { readonly type: Type }>>;
  const { prepare: asPrepared, record, ...named } = mail;
  const prepare = async (id: string, event: Mailed) => {
    const message = await asPrepared(id, event);
    return message === null || message.to === erased ? null : { ...message, to: message.to };
  };
  const { category, codec } = aggregate;
  const followed = { ...named, category, codec, types };
  const request = mails.add({
    name: followed.name,
    open: async ({ id, event: reference, since }) => {
      const stored = reference === null ? null : await readReferenced(eventStore, id, reference);
      // A restored log lacks it for ever. A log with leaders may lack it for a moment, and the next attempt finds it.
      if (stored === null && isRecent(since, shortMs, clock.now()))
        throw new StoreUnavailable('the log lacks the event of a mail');
      // `types` names the events of `Mailed`.
      const event = stored === null ? null : (eventFor(followed, stored) as Mailed | null);
      const isLate = event !== null && clock.now() >= (followed.deadline?.(event) ?? Infinity);
      const message = event === null || isLate ? null : await prepare(streamIdOf(event), event);
      if (event === null || message === null) return null;
      return {
        mail: { ...message, id, to: { name: '', address: message.to } },
        record: async (outcome) => {
          await inTraceOf(event.metadata.correlation_id, () =>
            record(streamIdOf(event), event, outcome, contextFor(followed, event)),
          );
        },
      };
    },
  });
  return {
    ...followed,
    asks: async (event) => ((await prepare(streamIdOf(event), event)) === null ? 'no' : 'yes'),
    conclude: async (event) => {
      const message = await prepare(streamIdOf(event), event);
      // The mail stopped being wanted after `asks`.
      if (message === null) return;
      await request({ id: event.id, event: referenceTo(event), person: message.person ?? null });
    },
  };
}

interface Mail<Event extends DomainEvent> extends Pick<Reaction<Event>, 'name' | 'deadline'> {
  /**
   * Returns the message and its recipient, with the id of the user where it is one; null when the mail is not wanted any more. A
   * recipient who is erased gets none.
   */
  readonly prepare: (
    id: string,
    event: ReactionEvent<Event>,
  ) => Promise<(MailContent & { readonly to: string | typeof erased; readonly person?: string }) | null>;
  /** Appends the outcome. */
  readonly record: (
    id: string,
    event: ReactionEvent<Event>,
    outcome: MailOutcome,
    context: CommandContext,
  ) => Promise<unknown>;
}
