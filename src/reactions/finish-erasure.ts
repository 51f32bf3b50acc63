import type { FinishErasure } from '../commands/finish-erasure.js';
import { userCodec, type UserEvent } from '../domain/user/events.js';
import { userCategory } from '../domain/user/stream.js';
import type { Position } from '../event-sourcing/domain-event.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type UserErased = Extract<UserEvent, { type: 'UserErased' }>;

/**
 * Finishes every erasure, also where a crash stopped the process that began it (DESIGN 3, Erasure): it finds what the
 * request, whose views may have lagged, has not.
 */
export function makeFinishErasures({
  finishErasure,
  viewsShow,
}: {
  readonly finishErasure: FinishErasure;
  /** Whether the views of sessions and projects show the log up to there. */
  readonly viewsShow: (position: Position) => boolean;
}): Reaction<UserErased> {
  return {
    name: 'finish-erasure',
    category: userCategory,
    codec: userCodec,
    types: ['UserErased'],
    // Every step changes nothing once it is done, so nothing needs to be remembered.
    asks: ({ position }) => Promise.resolve(viewsShow(position) ? 'yes' : 'not-yet'),
    conclude: (event, context) => finishErasure({ userId: streamIdOf(event) }, context),
  };
}
