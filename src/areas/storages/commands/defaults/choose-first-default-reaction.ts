import type { ChooseFirstDefault } from './choose-first-default.js';
import { storageCodec, type StorageEvent, storageCategory } from '../../domain/storage/events.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type StorageTestSucceeded = Extract<StorageEvent, { type: 'StorageTestSucceeded' }>;

/** Makes the first storage of a project that passes a test its default. */
export function makeChooseFirstDefaultReaction({
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
