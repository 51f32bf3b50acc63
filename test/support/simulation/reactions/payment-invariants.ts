import type { LogEvent } from '../../../../src/event-sourcing/ports/domain-event.js';

/** Checks the invariants of the log in every history. Returns the violations as sentences. */
export function problemsOfLog(events: readonly LogEvent[]): readonly string[] {
  const providers = new Map(
    events
      .filter(({ type }) => type === 'OrderPlaced')
      .map(({ stream, data }) => [stream, textAt(data, 'provider')]),
  );
  return [
    ...repeated(events, 'PaymentReported', ({ stream, data }) => `${stream} ${textAt(data, 'key')}`),
    ...repeated(
      events,
      'PaymentCaptured',
      ({ stream, data }) => `${providers.get(stream)} ${textAt(data, 'transaction_id')}`,
    ),
    ...repeated(
      events.filter(({ data }) => 'callback' in data),
      null,
      (event) =>
        `${event.stream} ${event.type} ${textAt(event.data, 'callback')} ${reasonsBefore(event, events)}`,
    ),
    ...repeated(events, null, ({ id }) => id),
    ...notAlternating(events, 'OrderFulfilled', 'FulfilmentRevoked'),
    ...endedTooLate(events),
    ...notAlternating(
      events.filter(({ data }) => data['source'] !== 'registration'),
      'CapacityGranted',
      'CapacityRevoked',
    ),
  ];
}

/** Returns a field as text. A string stays as it is. */
export function textAt(data: LogEvent['data'], field: string): string {
  const value = data[field] ?? null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const asksAgain = [
  ...['RefundReported', 'DisputeOpened', 'DisputeClosed'],
  // A payment that was the first becomes a second one, or has no recipient any more.
  ...['PaymentCaptured', 'GrantRecipientGone'],
];

/** An operator decides on a payment again after an event that asks for another reason. No other event may be there twice. */
function reasonsBefore(event: LogEvent, events: readonly LogEvent[]): number {
  if (event.type !== 'ReviewResolved') return 0;
  const before = events.slice(0, events.indexOf(event));
  return before.filter(({ stream, type }) => stream === event.stream && asksAgain.includes(type)).length;
}

const meanings: Readonly<Record<string, 'paid' | 'ended'>> = {
  ...{ PaymentCaptured: 'paid', PaymentFailed: 'ended', OrderExpired: 'ended', OrderCanceled: 'ended' },
};

function meaningOf({ type, data }: LogEvent): 'paid' | 'ended' | 'pending' | null {
  if (type === 'ReviewResolved') return data['action'] === 'apply' ? 'paid' : null;
  if (type === 'PaymentPending') return data['is_unpaid'] === true ? null : 'pending';
  return meanings[type] ?? null;
}

/** Checks that neither time nor the buyer ends an order that was paid, or has ended and has no pending payment. */
function endedTooLate(events: readonly LogEvent[]): readonly string[] {
  const seen = new Set<string>();
  for (const event of events) {
    const { stream, type } = event;
    const was = (meaning: string): boolean => seen.has(`${stream} ${meaning}`);
    const isEnd = type === 'OrderExpired' || type === 'OrderCanceled';
    if (isEnd && (was('paid') || (was('ended') && !was('pending')))) {
      return [`${type} of ${stream}, which was over`];
    }
    seen.add(`${stream} ${String(meaningOf(event))}`);
  }
  return [];
}

function repeated(
  events: readonly LogEvent[],
  type: string | null,
  nameOf: (event: LogEvent) => string,
): readonly string[] {
  const seen = new Set<string>();
  for (const event of events) {
    if (type !== null && event.type !== type) continue;
    const name = nameOf(event);
    if (seen.has(name)) return [`${type ?? 'an event'} twice: ${name}`];
    seen.add(name);
  }
  return [];
}

/** Checks by stream and source that the first type comes first, and then both alternate. */
function notAlternating(events: readonly LogEvent[], first: string, second: string): readonly string[] {
  const last = new Map<string, string>();
  for (const { stream, type, data } of events) {
    if (type !== first && type !== second) continue;
    const name = `${stream} ${textAt(data, 'source')}`;
    const expected = last.get(name) === first ? second : first;
    if (type !== expected) return [`${type} out of turn in ${name}`];
    last.set(name, type);
  }
  return [];
}
