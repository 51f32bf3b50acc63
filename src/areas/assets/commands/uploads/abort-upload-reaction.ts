import type { AssetRejection } from '../../domain/asset/rejections.js';
import { assetAggregate, openMultipart } from '../../domain/asset/asset.js';
import { assetCategory, assetCodec, type AssetEvent } from '../../domain/asset/events.js';
import { streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import type { AssetDeps } from '../../deps.js';
import { isRejection } from '../../../shared/rejections.js';
import type { AbortAtBucket } from './end-upload.js';

type Due = Extract<AssetEvent, { type: 'AssetMultipartStarted' | 'AssetMultipartAbortPutOff' }>;

/**
 * Aborts an upload in parts that is still open after 7 days, also of a removed asset: providers charge for its parts.
 * Without an answer of the bucket, it tries again a day later, 7 times in all.
 */
export function makeAbortUploads({
  handler,
  clock,
  abortAtBucket,
}: Pick<AssetDeps, 'handler' | 'clock'> & { readonly abortAtBucket: AbortAtBucket }): Reaction<
  Due,
  'aborted' | 'put_off'
> {
  return {
    name: 'abort-uploads',
    category: assetCategory,
    codec: assetCodec,
    types: ['AssetMultipartStarted', 'AssetMultipartAbortPutOff'],
    hasTimers: true,
    atOnceMax: 32,
    asks: async (event) => {
      const dueAt = new Date(event.data.abort_at);
      if (clock.now() < dueAt) return { notBefore: dueAt };
      const { state } = await handler.load(assetAggregate, streamIdOf(event));
      const open = openMultipart(state);
      const { upload_id, abort_at } = event.data;
      return open?.upload_id === upload_id && open.abort_at === abort_at ? 'yes' : 'no';
    },
    perform: async (event, signal) => {
      const { state } = await handler.load(assetAggregate, streamIdOf(event));
      const open = openMultipart(state);
      if (open === null) return 'aborted';
      try {
        return (await abortAtBucket(open, signal)) === 'aborted' ? 'aborted' : 'put_off';
      } catch (error) {
        // The storage is disabled or deleted.
        if (isRejection<AssetRejection>(error, 'asset_storage_unusable')) return 'put_off';
        throw error;
      }
    },
    conclude: async (event, context, result) => {
      const target = { aggregate: assetAggregate, id: streamIdOf(event) };
      const uploadId = event.data.upload_id;
      const attempt = event.type === 'AssetMultipartStarted' ? 1 : event.data.attempt;
      await handler.handle(
        target,
        result === 'aborted'
          ? { type: 'EndMultipart', uploadId, outcome: 'aborted' }
          : { type: 'PutOffAbort', uploadId, attempt, now: clock.now() },
        context,
      );
    },
  };
}
