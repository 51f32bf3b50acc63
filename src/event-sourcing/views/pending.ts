import { makeSetApart, type SetApart, type SetApartItem } from '../feeding/set-apart.js';
import type { EventStore } from '../ports/event-store.js';
import type { ReadModelStore } from '../ports/read-model-store.js';
import { makePendingDocuments, type PendingDocuments } from './pending-documents.js';
import { makePendingTotals } from './pending-totals.js';
import { type AnyView, isTally } from './projection.js';

/** A collection to feed, and its view. */
export interface FedCollection {
  readonly projection: AnyView;
  readonly collection: string;
}

/** More streams than these are no exception: the view stops instead. */
const setApartMax = 100;

/** Makes the record of the streams that a collection cannot take in: src/event-sourcing/feeding/README.md#undecodable-events. */
export function makeStreamsApart(
  readModelStore: Parameters<typeof makeSetApart>[0],
  collection: string,
  onSetApart: (stream: SetApartItem) => void,
): SetApart {
  return makeSetApart(readModelStore, { owner: collection, itemsMax: setApartMax, onSetApart });
}

/** Makes what a feeder has folded of a collection and not written yet. */
export function makePending(
  deps: {
    readonly eventStore: Pick<EventStore, 'read'>;
    readonly readModelStore: Pick<ReadModelStore, 'getMany' | 'write'>;
    readonly apart: Pick<SetApart, 'attempt'>;
  },
  { projection, collection }: FedCollection,
): PendingDocuments {
  return isTally(projection)
    ? makePendingTotals(deps, { tally: projection, collection })
    : makePendingDocuments(deps, { projection, collection });
}
