import type { DestroyCredentials } from '../commands/delete-storage.js';
import { storageCodec, type StorageEvent } from '../domain/storage/events.js';
import { storageCategory } from '../domain/storage/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type StorageDeleted = Extract<StorageEvent, { type: 'StorageDeleted' }>;

/** Destroys the keys of a deleted storage's credentials, where a crash kept the deletion from doing so itself. */
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
    // Destroying once more changes nothing, so nothing needs to be remembered.
    asks: () => Promise.resolve('yes'),
    conclude: (event) => destroyCredentials(streamIdOf(event)),
  };
}
