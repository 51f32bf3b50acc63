import { shareMailCategory, shareMailCodec, type ShareMailEvent } from '../../domain/share-mail/events.js';
import { allMailed, shareMailAggregate, shareMailLifetimeMs } from '../../domain/share-mail/share-mail.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import type { ShareDeps } from '../../deps.js';

/**
 * Destroys the key of the addresses and of the message of a request when all its mails have gone, and at the latest when
 * they are not sent any more.
 */
export function makeForgetShareMails({
  handler,
  sealer,
  clock,
}: Pick<ShareDeps, 'handler' | 'sealer' | 'clock'>): Reaction<ShareMailEvent> {
  return {
    name: 'forget-share-mails',
    category: shareMailCategory,
    codec: shareMailCodec,
    types: ['ShareMailRequested', 'ShareMailed'],
    hasTimers: true,
    // Destroying a key again costs no more than to read whether it exists.
    asks: async (event) => {
      const { state } = await handler.load(shareMailAggregate, streamIdOf(event));
      if (event.type === 'ShareMailed') return allMailed(state) ? 'yes' : 'no';
      // One event of a request is enough, and `ShareMailed` has destroyed the key of a request that is done.
      if (event.data.number > 0 || allMailed(state)) return 'no';
      const endsAt = new Date(event.recordedAt.getTime() + shareMailLifetimeMs);
      return clock.now() < endsAt ? { notBefore: endsAt } : 'yes';
    },
    conclude: async (event) => {
      const mailId = streamIdOf(event);
      const { state } = await handler.load(shareMailAggregate, mailId);
      if (state.status === 'absent') return;
      await sealer.destroy({ kind: 'share-mail', projectId: state.projectId, mailId });
    },
  };
}
