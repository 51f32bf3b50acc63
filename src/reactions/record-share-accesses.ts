import type { RecordShareAccess } from '../commands/record-share-access.js';
import { shareCodec, type ShareEvent } from '../domain/share/events.js';
import { shareCategory } from '../domain/share/stream.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { Reaction, ReactionEvent } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type ShareUsed = Extract<ShareEvent, { type: 'ShareUsed' }>;

/** Whoever counted the use records the access too, and knows more of it: milliseconds since the use. */
const leftAloneMs = 15_000;

/** Records the accesses that were counted, where a crash kept the request from doing so itself (DESIGN 4.4). */
export function makeRecordShareAccesses({
  recordShareAccess,
  clock,
}: {
  readonly recordShareAccess: RecordShareAccess;
  readonly clock: Clock;
}): Reaction<ShareUsed> {
  const accessOf = (event: ReactionEvent<ShareUsed>) => ({
    accessId: event.data.access_id,
    shareId: streamIdOf(event),
  });
  return {
    name: 'record-share-accesses',
    category: shareCategory,
    codec: shareCodec,
    types: ['ShareUsed'],
    asks: async (event) => {
      if (await recordShareAccess.isRecorded(event.data.access_id)) return 'no';
      return clock.now().getTime() - event.recordedAt.getTime() < leftAloneMs ? 'not-yet' : 'yes';
    },
    conclude: (event, context) => recordShareAccess.finish(accessOf(event), context),
  };
}
