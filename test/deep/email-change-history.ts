import {
  type DomainEvent,
  type StoredEvent,
  streamName,
} from '../../src/event-sourcing/ports/domain-event.js';
import type { Aggregate } from '../../src/event-sourcing/deciding/command-handler.js';
import { emailAggregate, type EmailState } from '../../src/areas/accounts/domain/email/email.js';
import { hasAddress, userAggregate, type UserState } from '../../src/areas/accounts/domain/user/user.js';

/** Checks the owners of the addresses at every moment of the log. Returns the problem, or null. */
export function judgeAddresses(log: readonly StoredEvent[], userIds: readonly string[]): string | null {
  const users = new Map<string, UserState>();
  for (const event of log) {
    if (!event.stream.startsWith('user-')) continue;
    const { decider, codec } = userAggregate;
    const before = users.get(event.stream) ?? decider.initialState;
    users.set(event.stream, decider.evolve(before, codec.decode(event)));
    const held = [...users.values()].flatMap((user) =>
      user.status === 'registered' ? [user.email_digest] : [],
    );
    if (new Set(held).size < held.length) return `two users have one address after ${event.type}`;
  }
  const without = userIds.find((userId) => {
    const status = users.get(streamName('user', userId))?.status;
    return status !== 'registered' && status !== 'erased';
  });
  return without === undefined ? null : 'a user has no address';
}

/** A change that the service confirmed to a user. */
export interface Confirmed {
  readonly userId: string;
  readonly email_digest: string;
}

/** Checks the final state after the reactions have run. Returns the problem, or null. */
export function judgeRest(log: readonly StoredEvent[], confirmed: readonly Confirmed[]): string | null {
  const users = foldAll(userAggregate, log);
  const reservations = foldAll(emailAggregate, log);
  const unreserved = [...users].some(([userId, user]) => {
    if (user.status !== 'registered') return false;
    const reservation = reservations.get(user.email_digest);
    return reservation?.status !== 'reserved' || reservation.user_id !== userId;
  });
  if (unreserved) return 'a user has an address that is not reserved for them';
  const left = [...reservations].find(([email_digest, reservation]) =>
    isLeft(email_digest, reservation, users),
  );
  if (left !== undefined) return 'an address was neither changed to nor released';
  const missing = confirmed.find((change) => !log.some((event) => isOf(change, event)));
  return missing === undefined ? null : 'a change was confirmed that did not happen';
}

function isLeft(
  email_digest: string,
  reservation: EmailState,
  users: ReadonlyMap<string, UserState>,
): boolean {
  if (reservation.status === 'free') return false;
  const user = users.get(reservation.user_id);
  // The next command that needs the address abandons an unfinished registration.
  if (user === undefined || user.status === 'abandoned') return false;
  // The erasure releases the own address of an erased user.
  if (user.status === 'erased' && user.email_digest === email_digest) return false;
  return !hasAddress(user, email_digest);
}

function isOf({ userId, email_digest }: Confirmed, { type, stream, data }: StoredEvent): boolean {
  return (
    type === 'EmailChanged' && stream === streamName('user', userId) && data['email_digest'] === email_digest
  );
}

function foldAll<State, Command, Event extends DomainEvent>(
  aggregate: Aggregate<State, Command, Event>,
  log: readonly StoredEvent[],
): ReadonlyMap<string, State> {
  const prefix = streamName(aggregate.category, '');
  const { decider, codec } = aggregate;
  const states = new Map<string, State>();
  for (const event of log) {
    if (!event.stream.startsWith(prefix)) continue;
    const id = event.stream.slice(prefix.length);
    states.set(id, decider.evolve(states.get(id) ?? decider.initialState, codec.decode(event)));
  }
  return states;
}
