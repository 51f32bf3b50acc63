import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Sealed } from '../../../src/event-sourcing/ports/sealed.js';
import type { DecisionResource } from './resource.js';

/** An operator's decision on a payment, as documents contain it: with the sealed note. */
export type DecisionEntry = Readonly<Omit<DecisionResource, 'note'>> & {
  readonly note: Sealed;
  readonly note_of: string | null;
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

/** An operator's record of a payment, as documents contain it: with the sealed reason and evidence. */
export type RecordedEntry = {
  readonly note: Sealed;
  readonly note_of: string | null;
  readonly by: string;
  readonly at: string;
};
