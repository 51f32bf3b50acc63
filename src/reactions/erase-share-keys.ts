import type { DestroyShareKey } from '../commands/destroy-share-key.js';
import { shareCodec, type ShareEvent } from '../domain/share/events.js';
import { shareCategory } from '../domain/share/stream.js';
import type { Position } from '../event-sourcing/domain-event.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type ShareRevoked = Extract<ShareEvent, { type: 'ShareRevoked' }>;

/** Destroys the keys of revoked shares: nobody needs their tokens and passwords any more. */
export function makeEraseShareKeys({
  destroyShareKey,
  sharesShown,
}: {
  readonly destroyShareKey: DestroyShareKey;
  /** Whether the view of shares shows the log up to there: it lists tokens, which open with the key. */
  readonly sharesShown: (position: Position) => boolean;
}): Reaction<ShareRevoked> {
  return {
    name: 'erase-share-keys',
    category: shareCategory,
    codec: shareCodec,
    types: ['ShareRevoked'],
    asks: ({ position }) => Promise.resolve(sharesShown(position) ? 'yes' : 'not-yet'),
    conclude: (event) => destroyShareKey(streamIdOf(event)),
  };
}
