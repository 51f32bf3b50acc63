import { type AnyReaction, contextFor, eventFor } from '../../../src/event-sourcing/effects/reaction.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';

/** Asks a reaction about a stored event as the runner does, and runs it once. Null: it does not follow the event. */
export async function serveEvent(reaction: AnyReaction, stored: LogEvent) {
  const event = eventFor(reaction, stored);
  if (event === null) return null;
  const asked = await reaction.asks(event);
  if (asked !== 'yes') return asked;
  const outcome = await reaction.perform?.(event, new AbortController().signal);
  await reaction.conclude(event, contextFor(reaction, event), outcome);
  return asked;
}

/** Runs a reaction once over the events of the log, from the given place on. @returns the number of handled events */
export async function serveReaction(
  reaction: AnyReaction,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readAll'> },
  { from = 0, now }: { readonly from?: number; readonly now?: Date } = {},
): Promise<number> {
  const { events } = await eventStore.readAll({ after: null, limit: 10_000 });
  let served = 0;
  for (const stored of events.slice(from)) {
    if (now !== undefined && !isInTime(reaction, stored, now)) continue;
    if ((await serveEvent(reaction, stored)) === 'yes') served += 1;
  }
  return served;
}

/** Returns the accounts for which the effects of a reaction count, in the order of its events. */
export async function accountsOf(
  reaction: AnyReaction,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readAll'> },
): Promise<readonly (string | undefined)[]> {
  const { events } = await eventStore.readAll({ after: null, limit: 10_000 });
  const followed = events.map((stored) => eventFor(reaction, stored)).filter((event) => event !== null);
  return Promise.all(followed.map(async (event) => reaction.account?.(event)));
}

function isInTime(reaction: AnyReaction, stored: LogEvent, now: Date): boolean {
  const event = eventFor(reaction, stored);
  return event !== null && now < (reaction.deadline?.(event) ?? new Date(Infinity));
}
