import type { FinishErasure } from './finish-erasure.js';
import { userCodec, type UserEvent, userCategory } from '../../domain/user/events.js';
import type { Position } from '../../../../event-sourcing/ports/domain-event.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type UserErased = Extract<UserEvent, { type: 'UserErased' }>;

/**
 * Finishes every erasure, also after a crash of the process that began it: src/areas/accounts/README.md#erasure. It erases the data
 * that the request missed because its views lagged.
 */
export function makeFinishErasures({
  finishErasure,
  viewsShow,
}: {
  readonly finishErasure: FinishErasure;
  /** Returns whether the views of sessions and projects contain the log up to the position. */
  readonly viewsShow: (position: Position) => boolean;
}): Reaction<UserErased> {
  return {
    name: 'finish-erasure',
    category: userCategory,
    codec: userCodec,
    types: ['UserErased'],
    // Every step is idempotent, so no check of the outcome is needed.
    asks: ({ position }) => Promise.resolve(viewsShow(position) ? 'yes' : 'not-yet'),
    conclude: (event, context) => finishErasure({ userId: streamIdOf(event) }, context),
  };
}
