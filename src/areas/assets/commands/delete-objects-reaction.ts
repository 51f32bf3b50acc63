import { assetAggregate } from '../domain/asset/asset.js';
import type { DeletionAttempt, PendingDeletion } from '../domain/asset/deletion.js';
import { assetCategory, assetCodec, type AssetEvent } from '../domain/asset/events.js';
import { type Position, streamIdOf } from '../../../event-sourcing/ports/domain-event.js';
import type { Reaction } from '../../../event-sourcing/effects/reaction.js';
import type { AssetDeps } from '../deps.js';
import type { DeleteObjects } from './delete-objects.js';

type Due = Extract<AssetEvent, { type: 'AssetDeletionRequested' | 'AssetDeletionPutOff' }>;

/**
 * Deletes the objects of a removed asset from its bucket, where the removal asked for it. It tries at once and then each
 * day, 7 times in all.
 */
export function makeDeleteAssetObjects({
  handler,
  clock,
  deleteObjects,
  viewsShow,
}: Pick<AssetDeps, 'handler' | 'clock'> & {
  readonly deleteObjects: DeleteObjects;
  /** Says whether the views of storages and assets have reached the position. */
  readonly viewsShow: (position: Position) => boolean;
}): Reaction<Due, DeletionAttempt> {
  return {
    name: 'delete-objects',
    category: assetCategory,
    codec: assetCodec,
    types: ['AssetDeletionRequested', 'AssetDeletionPutOff'],
    hasTimers: true,
    // A silent bucket keeps a slot for 5 s.
    atOnceMax: 32,
    asks: async (event) => {
      if (event.type === 'AssetDeletionPutOff') {
        const notBefore = new Date(event.data.delete_at);
        if (clock.now() < notBefore) return { notBefore };
      }
      if (!viewsShow(event.position)) return 'not-yet';
      return (await pendingOf(streamIdOf(event)))?.attempt === attemptOf(event) ? 'yes' : 'no';
    },
    perform: async (event, signal) => {
      const assetId = streamIdOf(event);
      const pending = await pendingOf(assetId);
      return pending === null ? { left: [], kept: [] } : deleteObjects(assetId, pending, signal);
    },
    conclude: async (event, context, found) => {
      const target = { aggregate: assetAggregate, id: streamIdOf(event) };
      const attempt = attemptOf(event);
      await handler.handle(target, { type: 'RecordDeletion', attempt, now: clock.now(), ...found }, context);
    },
  };

  async function pendingOf(assetId: string): Promise<PendingDeletion | null> {
    const { state } = await handler.load(assetAggregate, assetId);
    return state.status === 'removed' ? state.deletion : null;
  }
}

function attemptOf(event: Due): number {
  return event.type === 'AssetDeletionRequested' ? 1 : event.data.attempt;
}
