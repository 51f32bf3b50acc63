import type { DestroyShareKey } from './destroy-share-key.js';
import { shareCodec, type ShareEvent, shareCategory } from '../domain/share/events.js';
import type { Position } from '../../../event-sourcing/ports/domain-event.js';
import type { Reaction } from '../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../event-sourcing/ports/stream-name.js';

type ShareRevoked = Extract<ShareEvent, { type: 'ShareRevoked' }>;

/** Destroys the keys of revoked shares, whose tokens and passwords have no more use. */
export function makeEraseShareKeys({
  destroyShareKey,
  sharesShown,
}: {
  readonly destroyShareKey: DestroyShareKey;
  /** Says whether the view of shares has reached the position. Before that, it lists a token that needs the key. */
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
