import type { ChooseFirstDefault } from '../commands/choose-first-default.js';
import { storageCodec, type StorageEvent } from '../domain/storage/events.js';
import { storageCategory } from '../domain/storage/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type StorageTestSucceeded = Extract<StorageEvent, { type: 'StorageTestSucceeded' }>;

/** Makes the first storage of a project that works its default. */
export function makeChooseFirstDefault({
  chooseFirstDefault,
}: {
  readonly chooseFirstDefault: ChooseFirstDefault;
}): Reaction<StorageTestSucceeded> {
  return {
    name: 'choose-first-default',
    category: storageCategory,
    codec: storageCodec,
    types: ['StorageTestSucceeded'],
    asks: async (event) => ((await chooseFirstDefault.isWanted(streamIdOf(event))) ? 'yes' : 'no'),
    conclude: (event, context) => chooseFirstDefault.choose(streamIdOf(event), context),
  };
}
