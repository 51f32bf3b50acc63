import { type AnyReaction, contextFor, eventFor } from '../../../src/event-sourcing/effects/reaction.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { GivenStores } from './given-stores.js';

type Log = { readonly eventStore: Pick<GivenStores['eventStore'], 'readAll'> };

/** Returns all events of the log. */
export async function logOf({ eventStore }: Log): Promise<readonly LogEvent[]> {
  return (await eventStore.readAll({ after: null, limit: 10_000 })).events;
}

export function typesOf(events: readonly { readonly type: string }[]): readonly string[] {
  return events.map(({ type }) => type);
}

/**
 * Runs reactions once for every event of the log, as after the loss of their checkpoints. Returns the answers of `asks` to the
 * events that a reaction knows.
 */
export async function serve(stores: Log, ...reactions: readonly AnyReaction[]): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  for (const stored of await logOf(stores)) {
    for (const reaction of reactions) {
      const event = eventFor(reaction, stored);
      if (event === null) continue;
      const answer = await reaction.asks(event);
      answers.push(answer);
      if (answer === 'yes') await reaction.conclude(event, contextFor(reaction, event), undefined);
    }
  }
  return answers;
}
