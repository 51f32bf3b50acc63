import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Sealed } from '../../src/event-sourcing/sealed.js';

/** What an operator has decided on a payment, as documents keep it: the note sealed. */
export type DecisionEntry = {
  /** What was decided on: a whole callback, or one of the things that it tells. */
  readonly payment_id: string;
  readonly action: 'apply' | 'dismiss';
  /** The order that it concerns; null where there is none. */
  readonly order_id: string | null;
  readonly note: Sealed;
  readonly note_of: string | null;
  /** As the event's metadata name whoever acted: `user:<id>`, or `operator` at the command line. */
  readonly decided_by: string;
  readonly decided_at: string;
};

export function decisionOf(
  event: Pick<Recorded<{ readonly type: string; readonly data: unknown }>, 'metadata' | 'time'>,
  decided: Pick<DecisionEntry, 'payment_id' | 'action' | 'order_id' | 'note' | 'note_of'>,
): DecisionEntry {
  const { payment_id, action, order_id, note, note_of } = decided;
  return {
    ...{ payment_id, action, order_id, note, note_of },
    decided_by: event.metadata.actor,
    decided_at: event.time,
  };
}
