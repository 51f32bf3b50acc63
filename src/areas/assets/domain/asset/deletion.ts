import type { AssetEvent, UndeletedObject } from './events.js';

type Requested = Extract<AssetEvent, { type: 'AssetDeletionRequested' }>['data'];

/** Objects of a removed asset that the service still has to delete (src/areas/assets/README.md#deleting-objects). */
export interface PendingDeletion extends Omit<Requested, 'project_id'> {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Objects of which an attempt found that another asset has them. */
  readonly kept: readonly string[];
}

/** What an attempt found. Objects that are in neither list are deleted. */
export interface DeletionAttempt {
  readonly left: readonly UndeletedObject[];
  readonly kept: readonly string[];
}

/** The causes that no answer of a bucket has. */
export const undeletedCauses = ['storage_changed', 'storage_deleted', 'storage_disabled'] as const;

const dayMs = 24 * 3_600_000;
const attemptsMax = 7;

/** Folds an event of a removed asset into its pending deletion; null where nothing is pending. */
export function applyDeletion(
  pending: PendingDeletion | null,
  event: Extract<AssetEvent, { type: `AssetDeletion${string}` }>,
): PendingDeletion | null {
  switch (event.type) {
    case 'AssetDeletionRequested': {
      const { storage_id, endpoint, bucket, region, base_path, object_keys } = event.data;
      return { storage_id, endpoint, bucket, region, base_path, object_keys, attempt: 1, kept: [] };
    }
    case 'AssetDeletionPutOff': {
      const { attempt, left, kept } = event.data;
      return pending === null
        ? null
        : { ...pending, attempt, kept, object_keys: left.map(({ object_key }) => object_key) };
    }
    case 'AssetDeletionEnded':
      return null;
  }
}

/**
 * Records an attempt. Where objects are left, the next attempt is due a day later, 7 in all. A storage that is deleted or
 * leads elsewhere ends the deletion at once, because no attempt can succeed.
 */
export function recordAttempt(
  pending: PendingDeletion | null,
  { attempt, now, ...found }: DeletionAttempt & { readonly attempt: number; readonly now: Date },
): readonly AssetEvent[] {
  if (pending?.attempt !== attempt) return [];
  const kept = [...pending.kept, ...found.kept];
  const left = [...found.left];
  const isFinal = left.every(({ cause }) => cause === 'storage_changed' || cause === 'storage_deleted');
  if (isFinal || attempt >= attemptsMax) return [{ type: 'AssetDeletionEnded', data: { left, kept } }];
  const delete_at = new Date(now.getTime() + dayMs).toISOString();
  return [{ type: 'AssetDeletionPutOff', data: { attempt: attempt + 1, delete_at, left, kept } }];
}
