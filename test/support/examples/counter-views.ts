import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { counterCategory, counterCodec, type CounterEvent } from './counter-aggregate.js';

export type CounterDocument = {
  readonly label: string;
  readonly total: number;
  readonly additions: number;
  readonly updated_at: string;
};

/** A projection that uses every event. A closed counter has no body. */
export const countersProjection: Projection<CounterDocument, CounterEvent> = {
  name: 'counters',
  version: 1,
  category: counterCategory,
  codec: counterCodec,
  indexes: ['label'],
  evolve: (document: CounterDocument | null, event: Recorded<CounterEvent>): CounterDocument | null => {
    switch (event.type) {
      case 'CounterOpened':
        return { label: event.data.label, total: 0, additions: 0, updated_at: event.time };
      case 'CounterAdded':
        return document === null
          ? null
          : {
              ...document,
              total: document.total + event.data.amount,
              additions: document.additions + 1,
              updated_at: event.time,
            };
      case 'CounterClosed':
        return null;
    }
  },
};

export type LabelDocument = { readonly label: string };

/** A projection that uses only the opening. Other events only raise the revision. */
export const counterLabelsProjection: Projection<LabelDocument, CounterEvent> = {
  name: 'counter_labels',
  version: 1,
  category: counterCategory,
  codec: counterCodec,
  indexes: [],
  evolve: (document, event) => (event.type === 'CounterOpened' ? { label: event.data.label } : document),
};
