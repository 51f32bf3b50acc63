import type { AssetEvent, UndeletedObject } from '../../../src/areas/assets/domain/asset/events.js';
import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import { objectPlace } from './finding.js';

/** The objects of a removed asset that a bucket still holds (src/areas/assets/README.md#deleting-objects). */
export type DeletionDocument = {
  /** The storage. No list of assets is by this field. */
  readonly deletes_in: string;
  readonly left: readonly UndeletedObject[];
  /** The objects that stay, because another asset has them. */
  readonly kept: readonly string[];
  /** Null before the first attempt and after the last one. */
  readonly next_attempt_at: string | null;
  readonly removed_at: string;
  /** The objects that the service still deletes: no other asset may get them. */
  readonly object_places: readonly string[];
};

type DeletionEvent = Extract<Recorded<AssetEvent>, { type: `AssetDeletion${string}` }>;

/** Folds an event of a removed asset. Returns null where the bucket holds no object of it. */
export function evolveDeletion(
  document: DeletionDocument | null,
  event: DeletionEvent,
): DeletionDocument | null {
  if (event.type === 'AssetDeletionRequested') {
    const { storage_id, object_keys } = event.data;
    return {
      ...{ deletes_in: storage_id, kept: [], next_attempt_at: null, removed_at: event.time },
      left: object_keys.map((object_key) => ({ object_key, cause: 'not_tried_yet', provider_code: null })),
      object_places: placesOf(storage_id, object_keys),
    };
  }
  if (document === null) return null;
  const { left, kept } = event.data;
  if (event.type === 'AssetDeletionEnded') {
    const isDone = left.length === 0 && kept.length === 0;
    return isDone ? null : { ...document, left, kept, next_attempt_at: null, object_places: [] };
  }
  const keys = left.map(({ object_key }) => object_key);
  const object_places = placesOf(document.deletes_in, keys);
  return { ...document, left, kept, next_attempt_at: event.data.delete_at, object_places };
}

function placesOf(storageId: string, keys: readonly string[]): readonly string[] {
  return keys.map((key) => objectPlace(storageId, key));
}
