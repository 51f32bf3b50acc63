import { createHash } from 'node:crypto';
import type { LogEvent } from '../../src/event-sourcing/ports/domain-event.js';
import type { PlatformMessage } from './payment-senders.js';
import type { Fate } from './payment-stories.js';

/** A message that was sent. */
export interface Sent {
  readonly message: PlatformMessage;
  readonly fate: Fate;
  /** When it was first acknowledged, in epoch milliseconds. Null: never acknowledged, but it may be on record. */
  readonly acknowledgedAtMs: number | null;
}

/**
 * Returns the acknowledged messages that are missing, late or duplicate, and the recorded ones with a wrong end, as
 * sentences. A callback must be on record before its acknowledgement. Otherwise a repetition could hide the loss of an
 * earlier one.
 */
export function findCallbackProblems(events: readonly LogEvent[], sent: readonly Sent[]): readonly string[] {
  const callbacks = groupBy(
    events.filter(({ stream }) => stream.startsWith('payment-')),
    ({ stream }) => stream,
  );
  const problems = sent.flatMap((one) => {
    const { provider, key } = one.message;
    const stream = `payment-${provider}-${createHash('sha256').update(key).digest('hex')}`;
    const own = callbacks.get(stream) ?? [];
    callbacks.delete(stream);
    return problemsOfCallback(own, one).map((problem) => `${provider} ${key} ${problem}`);
  });
  return [...problems, ...[...callbacks.keys()].map((stream) => `${stream} was never sent`)];
}

function problemsOfCallback(own: readonly LogEvent[], { fate, acknowledgedAtMs }: Sent): readonly string[] {
  const [received, ...rest] = own;
  if (received === undefined && acknowledgedAtMs === null) return [];
  if (received?.type !== 'PaymentCallbackReceived') return ['was acknowledged and is not on record'];
  if (received.recordedAt.getTime() > (acknowledgedAtMs ?? Infinity)) {
    return ['was acknowledged before it was on record'];
  }
  return hasBecome(rest, fate) ? [] : [`has not become ${fate}: ${JSON.stringify(rest.map(toWords))}`];
}

/** Returns whether the callback has exactly one end. Being held is an end while it lasts. */
function hasBecome(rest: readonly LogEvent[], fate: Fate): boolean {
  const [disposition, ...more] = rest.map(toWords).filter((words) => words !== 'PaymentCallbackHeld');
  if (fate === 'held') return disposition === undefined && rest.length > 0;
  return (
    more.length === 0 && (disposition === fate || (fate === 'applied' && disposition === 'already_applied'))
  );
}

function toWords({ type, data }: LogEvent): unknown {
  return type === 'PaymentCallbackSettled' ? data['disposition'] : type;
}

/** Returns events that happened more than once although they may happen only once, as sentences. */
export function findRepetitions(events: readonly LogEvent[]): readonly string[] {
  const named = events.flatMap(({ stream, type, data }) => [
    ...(type === 'PaymentCaptured' ? [`${stream} captures ${text(data['transaction_id'])}`] : []),
    ...(type === 'TransactionLinked' ? [`${stream} is linked`] : []),
    ...('callback' in data ? [`${stream} has ${type} of ${text(data['callback'])}`] : []),
  ]);
  return [...groupBy(named, (name) => name)]
    .filter(([, all]) => all.length > 1)
    .map(([name]) => `twice: ${name}`);
}

/** Returns the sources that hold a grant at the end, and grants and revocations that do not alternate, as sentences. */
export function replayGrants(events: readonly LogEvent[]): {
  readonly held: ReadonlySet<string>;
  readonly problems: readonly string[];
} {
  const held = new Set<string>();
  const problems: string[] = [];
  for (const { stream, type, data } of events) {
    const place = `${stream} ${text(data['source'] ?? null)}`;
    if (gives.has(type)) {
      if (held.has(place)) problems.push(`${place} has ${type} twice in a row`);
      held.add(place);
    } else if (takes.has(type)) {
      if (!held.delete(place)) problems.push(`${place} has ${type} without a grant`);
    }
  }
  return { held, problems };
}

const gives = new Set(['CapacityGranted', 'EntitlementGranted', 'OrderFulfilled']);
const takes = new Set(['CapacityRevoked', 'EntitlementRevoked', 'FulfilmentRevoked']);

/** Returns where `replayGrants` keeps the grant of an order: at its recipient and in the order itself. */
export function placesOfGrant(order: {
  readonly id: string;
  readonly userId: string;
  readonly projectId: string | null;
}) {
  const { id, userId, projectId } = order;
  const recipient = projectId === null ? `user-${userId}` : `project-${projectId}`;
  return [`${recipient} ${text(id)}`, `order-${id} ${text(null)}`];
}

function text(value: unknown): string {
  return JSON.stringify(value ?? null);
}

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const own = groups.get(nameOf(item));
    if (own === undefined) groups.set(nameOf(item), [item]);
    else own.push(item);
  }
  return groups;
}
