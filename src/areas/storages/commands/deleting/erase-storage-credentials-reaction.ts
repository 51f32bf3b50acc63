import type { DestroyCredentials } from './delete-storage.js';
import { storageCodec, type StorageEvent, storageCategory } from '../../domain/storage/events.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type StorageDeleted = Extract<StorageEvent, { type: 'StorageDeleted' }>;

/** Destroys the keys of a deleted storage's credentials. The request does so too, unless it stopped early. */
export function makeEraseStorageCredentials({
  destroyCredentials,
}: {
  readonly destroyCredentials: DestroyCredentials;
}): Reaction<StorageDeleted> {
  return {
    name: 'erase-storage-credentials',
    category: storageCategory,
    codec: storageCodec,
    types: ['StorageDeleted'],
    // A second destruction changes nothing, so no check of the outcome is needed.
    asks: () => Promise.resolve('yes'),
    conclude: (event) => destroyCredentials(streamIdOf(event)),
  };
}
