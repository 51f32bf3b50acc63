import type { AssetDeps } from '../../deps.js';
import { stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import {
  type ExistingAsset,
  assetAggregate,
  existingAsset,
  multipartOfFile,
  openMultipart,
} from '../../domain/asset/asset.js';
import {
  type MultipartOutcome,
  type OpenMultipart,
  bytesOfPart,
  isNewObject,
  partCountOf,
  uploadNotFound,
} from '../../domain/asset/multipart.js';
import { type AssetRejection, rejectAsset } from '../../domain/asset/rejections.js';
import type { HeadAnswer } from '../../../storages/bucket/objects/head-object.js';
import type { ListedPart, MultipartFailure } from '../../../storages/bucket/objects/multipart.js';
import { accountOfStorage, type OpenedStorage } from '../../../storages/commands/open-storage.js';
import type { AskBucket, OpenAssetStorage } from '../add-asset.js';
import { makeRecordAnswer, seenBy } from './confirm-upload.js';
import { type UploadAddress, rejectFailure, targetOf } from './start-upload.js';
import { streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';
import { whenRejected } from '../../../shared/rejections.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';

/**
 * Aborts an upload in parts at its bucket, which may have done so before.
 * @throws CommandRejected asset_storage_unusable; the errors of `OpenStorage.serving`; the signal's reason
 */
type AbortAtBucket = ReturnType<typeof makeAbortAtBucket>;

export function makeAbortAtBucket(deps: AssetDeps & { readonly openAssetStorage: OpenAssetStorage }) {
  const { multipart, openAssetStorage } = deps;
  return async (open: OpenMultipart, signal?: AbortSignal) => {
    const aborted = await multipart.abort(targetOf(await openAssetStorage(open), open), signal);
    return aborted === 'done' || aborted.failure === 'missing' ? 'aborted' : aborted.failure;
  };
}

/** Parts of one listing. */
const listedMax = 1_000;

/**
 * Joins the parts of an upload, whose entity tags the bucket knows, and confirms the object. It returns the asset.
 * @throws CommandRejected asset_not_found, asset_storage_unusable, upload_not_found, upload_incomplete,
 * bucket_unavailable, bucket_refused
 */
export function makeCompleteUpload(
  deps: AssetDeps & { readonly openAssetStorage: OpenAssetStorage; readonly askBucket: AskBucket },
) {
  const { clock, handler, multipart, openAssetStorage, askBucket } = deps;
  const recordAnswer = makeRecordAnswer(deps);
  return async ({ projectId, assetId, uploadId }: UploadAddress, context: CommandContext) => {
    const target = assetAggregate.at(assetId);
    const { state } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    const open = multipartOfFile(asset);
    if (open?.upload_id !== uploadId) return uploadNotFound();
    const opened = await openAssetStorage(asset);
    const joined = await join(opened, asset, open, async () => {
      // A process that ends from here on, and a bucket that joins slowly, leave an object that a check finds.
      const expect = { type: 'ExpectUpload', projectId, now: clock.now() } as const;
      await handler.handle(target, expect, stepContext(context, 'expect'));
    });
    const answer = await askBucket(asset);
    const outcome = outcomeOf(joined, answer, asset, open);
    const seen = outcome === 'lost' ? null : seenBy(answer);
    await handler.handle(target, { type: 'EndMultipart', uploadId, outcome }, stepContext(context, 'end'));
    if (outcome === 'lost') return uploadNotFound();
    return recordAnswer({ projectId, assetId, sha256: null, seen }, context);
  };

  async function join(
    opened: OpenedStorage,
    asset: ExistingAsset,
    open: OpenMultipart,
    onReady: () => Promise<void>,
  ): Promise<'done' | MultipartFailure> {
    const listed = await listAll(opened, asset, open);
    if (listed === null) return 'missing';
    const parts = checkParts(asset, open, listed);
    await onReady();
    const joined = await multipart.complete({ ...targetOf(opened, open), parts });
    return joined === 'done' ? joined : joined.failure;
  }

  /** Returns null where the bucket knows no such upload. */
  async function listAll(
    opened: OpenedStorage,
    { size }: ExistingAsset,
    open: OpenMultipart,
  ): Promise<readonly ListedPart[] | null> {
    const count = partCountOf(size, open.part_size);
    const all: ListedPart[] = [];
    for (let after = 0; after < count; after += listedMax) {
      const listed = await multipart.listParts({ ...targetOf(opened, open), after, limit: listedMax });
      if ('failure' in listed) return listed.failure === 'missing' ? null : rejectFailure(listed.failure);
      all.push(...listed);
    }
    return all;
  }
}

/**
 * An upload ends as completed where the bucket says so, or has another object of the right size than before: an answer of the
 * bucket may be lost. It is lost only where the bucket has no such upload.
 * @throws CommandRejected bucket_unavailable, bucket_refused; the upload stays open then
 */
function outcomeOf(
  joined: 'done' | MultipartFailure,
  answer: HeadAnswer,
  { size }: ExistingAsset,
  { replaces }: OpenMultipart,
): Extract<MultipartOutcome, 'completed' | 'lost'> {
  if (joined === 'done') return 'completed';
  if (answer.kind === 'found' && answer.object.size === size) {
    const { entity_tag } = answer.object;
    if (isNewObject(replaces, { entity_tag, modified_at: answer.modified_at })) return 'completed';
  }
  if (joined !== 'missing') return rejectFailure(joined);
  return answer.kind === 'away' || answer.kind === 'refused' ? rejectFailure(answer.kind) : 'lost';
}

/** Returns the parts of the file. @throws CommandRejected upload_incomplete with the first missing numbers */
function checkParts(
  { size }: ExistingAsset,
  { part_size: partSize }: OpenMultipart,
  listed: readonly ListedPart[],
): readonly ListedPart[] {
  const byNumber = new Map(listed.map((part) => [part.part_number, part]));
  const parts: ListedPart[] = [];
  const missing: number[] = [];
  for (let number = 1; number <= partCountOf(size, partSize); number += 1) {
    const part = byNumber.get(number);
    if (part?.size === bytesOfPart(size, partSize, number)) parts.push(part);
    else missing.push(number);
  }
  if (missing.length === 0) return parts;
  const shown = missing.slice(0, 10).join(', ');
  return rejectAsset(
    'upload_incomplete',
    `the bucket does not have ${missing.length} parts in their size: ${shown}${missing.length > 10 ? ' …' : ''}`,
  );
}

/** Aborts an upload, so that the bucket deletes its parts. @throws CommandRejected as `CompleteUpload` */
export function makeAbortUpload(deps: AssetDeps & { readonly abortAtBucket: AbortAtBucket }) {
  const { handler, abortAtBucket } = deps;
  return async ({ projectId, assetId, uploadId }: UploadAddress, context: CommandContext) => {
    const { state } = await handler.load(assetAggregate, assetId);
    existingAsset(state, projectId);
    const open = openMultipart(state);
    if (open?.upload_id !== uploadId) return uploadNotFound();
    const aborted = await abortAtBucket(open);
    if (aborted !== 'aborted') return rejectFailure(aborted);
    const command = { type: 'EndMultipart', uploadId, outcome: 'aborted' } as const;
    await handler.handle(assetAggregate.at(assetId), command, context);
  };
}

/**
 * Aborts an upload in parts that is still open after 7 days, also of a removed asset: providers charge for its parts.
 * Without an answer of the bucket, it tries again a day later, 7 times in all.
 */
export function makeAbortUploads(
  deps: Pick<AssetDeps, 'handler' | 'clock'> & { readonly abortAtBucket: AbortAtBucket },
) {
  const { handler, clock, abortAtBucket } = deps;
  return on(assetAggregate, ['AssetMultipartStarted', 'AssetMultipartAbortPutOff'], {
    name: 'abort-uploads',
    hasTimers: true,
    atOnceMax: 32,
    account: async (event) => {
      const { state } = await handler.load(assetAggregate, streamIdOf(event));
      const open = openMultipart(state);
      return open === null ? event.stream : accountOfStorage(handler, open.storage_id);
    },
    isDue: async (id, event) => {
      const dueAt = new Date(event.data.abort_at);
      if (clock.now() < dueAt) return { notBefore: dueAt };
      const { state } = await handler.load(assetAggregate, id);
      const open = openMultipart(state);
      const { upload_id, abort_at } = event.data;
      return open?.upload_id === upload_id && open.abort_at === abort_at;
    },
    perform: async (event, signal) => {
      const { state } = await handler.load(assetAggregate, streamIdOf(event));
      const open = openMultipart(state);
      // It may have ended since, and the next one may have begun.
      if (open?.upload_id !== event.data.upload_id) return 'aborted';
      // The storage may be disabled or deleted.
      const unusable = whenRejected<AssetRejection>('asset_storage_unusable')(() => null);
      return (await abortAtBucket(open, signal).catch(unusable)) === 'aborted' ? 'aborted' : 'put_off';
    },
    run: async (id, context, event, result: 'aborted' | 'put_off') => {
      const uploadId = event.data.upload_id;
      const attempt = event.type === 'AssetMultipartStarted' ? 1 : event.data.attempt;
      await handler.handle(
        assetAggregate.at(id),
        result === 'aborted'
          ? { type: 'EndMultipart', uploadId, outcome: 'aborted' }
          : { type: 'PutOffAbort', uploadId, attempt, now: clock.now() },
        context,
      );
    },
  });
}
