import type { ShareDeps } from '../../deps.js';
import type { RecordShareAccess } from './record-share-access.js';
import { shareCodec, type ShareEvent, shareCategory } from '../../domain/share/events.js';
import type { Reaction, ReactionEvent } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type ShareUsed = Extract<ShareEvent, { type: 'ShareUsed' }>;

/** The time that the request has to record the access itself, with more details. */
const requestMs = 15_000;

/** Records the counted accesses that the request did not record: src/areas/shares/README.md#share-verification. */
export function makeRecordShareAccesses({
  recordShareAccess,
  clock,
}: Pick<ShareDeps, 'clock'> & {
  readonly recordShareAccess: RecordShareAccess;
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
      return clock.now().getTime() - event.recordedAt.getTime() < requestMs ? 'not-yet' : 'yes';
    },
    conclude: (event, context) => recordShareAccess.finish(accessOf(event), context),
  };
}
