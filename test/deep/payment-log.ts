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
  /** It moves no money, so its order alone has it, and nothing if the order knew it. */
  readonly isSilent: boolean;
}

/**
 * Returns the acknowledged messages that are missing or late, and the recorded ones with a wrong end, as sentences. A
 * callback must be on record before its acknowledgement. Otherwise a repetition could hide the loss of an earlier one.
 */
export function findCallbackProblems(events: readonly LogEvent[], sent: readonly Sent[]): readonly string[] {
  const records = recordsOf(events);
  const problems = sent.flatMap((one) => {
    const { provider, key } = one.message;
    const id = `${provider}-${createHash('sha256').update(key).digest('hex')}`;
    const own = records.get(id) ?? [];
    records.delete(id);
    return problemsOfCallback(own, one).map((problem) => `${provider} ${key} ${problem}`);
  });
  return [...problems, ...[...records.keys()].map((id) => `${id} was never sent`)];
}

/** An event that shows a callback, and what it says of it. `accepted`: it has an order, or needs none. */
interface CallbackRecord {
  readonly event: LogEvent;
  readonly shows: 'accepted' | 'held' | 'applied' | 'mismatch';
}

/** Returns the records of each callback by its id. A fact is named by its report, or by its callback. */
function recordsOf(events: readonly LogEvent[]): Map<string, CallbackRecord[]> {
  const linked = new Set(
    events
      .filter(({ stream, data }) => stream.startsWith('transaction-') && typeof data['order_id'] === 'string')
      .map(({ stream }) => stream),
  );
  const keys = new Map<string, string>();
  const records = new Map<string, CallbackRecord[]>();
  const add = (id: string, record: CallbackRecord): void => {
    const own = records.get(id) ?? [];
    records.set(id, [...own, record]);
  };
  for (const event of events) {
    const { stream, type, data, revision } = event;
    if (type === 'PaymentReported') {
      const key = callbackIn(data['key']);
      // The key of a forwarded report is the name of the notification that it repeats.
      const id = keys.get(key) ?? key;
      keys.set(`${stream.slice('transaction-'.length)}@${revision}`, id);
      const isUnreadable = JSON.stringify(data['notifications']).includes('"unreadable"');
      const waits = data['is_forwarded'] !== true && (!linked.has(stream) || isUnreadable);
      add(id, { event, shows: waits ? 'held' : 'accepted' });
    }
    const name = stream.startsWith('order-') ? callbackIn(data['callback']) : '';
    if (name === '') continue;
    add(keys.get(name) ?? name, { event, shows: type === 'PaymentMismatchFound' ? 'mismatch' : 'applied' });
  }
  return records;
}

/** Returns the part of a name before its index; the empty text where there is no name. */
function callbackIn(name: unknown): string {
  return typeof name === 'string' ? (name.split('.')[0] ?? '') : '';
}

function problemsOfCallback(
  own: readonly CallbackRecord[],
  { fate, acknowledgedAtMs, isSilent }: Sent,
): readonly string[] {
  const [first] = own;
  if (first === undefined) {
    return acknowledgedAtMs === null || isSilent ? [] : ['was acknowledged and is not on record'];
  }
  if (first.event.recordedAt.getTime() > (acknowledgedAtMs ?? Infinity)) {
    return ['was acknowledged before it was on record'];
  }
  const shown = own.map(({ shows }) => shows);
  return hasBecome(shown, fate) ? [] : [`has not become ${fate}: ${JSON.stringify(shown)}`];
}

function hasBecome(shown: readonly CallbackRecord['shows'][], fate: Fate): boolean {
  switch (fate) {
    case 'held':
      return shown.includes('held') && !shown.includes('applied') && !shown.includes('mismatch');
    case 'mismatch':
      return shown.includes('mismatch');
    case 'ignored':
      // Without an order it stays, in no list, for an order that is linked later.
      return !shown.includes('applied') && !shown.includes('mismatch');
    case 'applied':
      // A fact that another message told already appends nothing.
      return !shown.includes('held') && !shown.includes('mismatch');
  }
}

/** Returns events that happened more than once although they may happen only once, as sentences. */
export function findRepetitions(events: readonly LogEvent[]): readonly string[] {
  const named = events.flatMap(({ stream, type, data }) => [
    ...(type === 'PaymentCaptured' ? [`${stream} captures ${text(data['transaction_id'])}`] : []),
    ...(type === 'PaymentReported' ? [`${stream} has report ${text(data['key'])}`] : []),
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
