import { makeLru } from '../../../../kit/lru.js';
import type { AssetDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../../event-sourcing/views/views.js';
import { assetAggregate, existingAsset } from '../../domain/asset/asset.js';
import { type AssetRejection, rejectAsset } from '../../domain/asset/rejections.js';
import type { SeenObject } from '../../domain/asset/fold.js';
import type { HeadAnswer } from '../../../storages/bucket/objects/head-object.js';
import type { AssetResource } from '../../../../../projections/assets/assets/resource.js';
import type { AskBucket } from '../add-asset.js';
import type { AssetAddress } from '../change-asset.js';
import type { AssetEvent } from '../../domain/asset/events.js';
import { streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';
import type { ReactionEvent } from '../../../../event-sourcing/effects/reaction.js';
import { isRejection } from '../../../shared/rejections.js';
import { accountOfStorage } from '../../../storages/commands/open-storage.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';

interface Answered extends AssetAddress {
  /** SHA-256 of the file in hexadecimal, as the client computed it; null where it computed none. */
  readonly sha256: string | null;
}

export function makeConfirmUpload(deps: AssetDeps & { readonly askBucket: AskBucket }) {
  const { handler, assets, askBucket } = deps;
  const recordAnswer = makeRecordAnswer({ handler, assets });
  /**
   * Asks the bucket whether it holds the asset's own file as described, and records the answer. Without an object, a
   * `pending` asset stays as it is.
   * @throws CommandRejected asset_not_found, asset_storage_unusable, bucket_unavailable, bucket_refused
   */
  return async ({ projectId, assetId, sha256 }: Answered, context: CommandContext) => {
    const { state } = await handler.load(assetAggregate, assetId);
    const seen = seenBy(await askBucket(existingAsset(state, projectId)));
    return recordAnswer({ projectId, assetId, sha256, seen }, context);
  };
}

/** Records what the bucket said, and returns the asset. */
export function makeRecordAnswer({ handler, assets }: Pick<AssetDeps, 'handler' | 'assets'>) {
  return async (
    { projectId, assetId, ...answer }: Answered & { readonly seen: SeenObject | null },
    context: CommandContext,
  ): Promise<Versioned<AssetResource>> => {
    const command = { type: 'RecordAnswer', projectId, ...answer } as const;
    const { documents } = await handler.handle(assetAggregate.at(assetId), command, context);
    return assets.after(documents);
  };
}

/** @throws CommandRejected bucket_unavailable, bucket_refused */
export function seenBy(answer: HeadAnswer): SeenObject | null {
  switch (answer.kind) {
    case 'found':
      return answer.object;
    case 'missing':
      return null;
    case 'away':
      return rejectAsset('bucket_unavailable', 'the bucket did not answer, or reported an error; try again');
    case 'refused':
      return rejectAsset(
        'bucket_refused',
        'the bucket refused: the object is missing, or the access key may not read it; test the storage',
      );
  }
}

/** The answer of the bucket; null where it gave none, or refused. */
type CheckResult = { readonly seen: SeenObject | null } | null;

/** A check that is later than this is superfluous, so a lost checkpoint does not ask the buckets of old assets again. */
const lateMsMax = 7 * 24 * 3_600_000;
/**
 * The time for which checks are put off after a bucket did not answer. It would keep others waiting for 5 s each. Longer than a minute:
 * a timer keeps it.
 */
const awayMs = 5 * 60_000;
/** Storages of which a process knows it. */
const storagesMax = 10_000;

/**
 * Asks the bucket after each issued upload URL whether the file is there (src/areas/assets/README.md#uploads). Each check waits with
 * a timer. A check without a change sets the next one, up to four.
 */
export function makeCheckUploads(
  deps: Pick<AssetDeps, 'handler' | 'clock'> & { readonly askBucket: AskBucket },
) {
  const { handler, clock, askBucket } = deps;
  /** When storages that did not answer may be asked again, in ms, by storage. */
  const awayUntil = makeLru<number>(storagesMax);
  return on(assetAggregate, ['AssetUploadExpected'], {
    name: 'check-uploads',
    hasTimers: true,
    // A silent bucket keeps a slot for 5 s.
    atOnceMax: 32,
    account: async (event) => {
      const { state } = await handler.load(assetAggregate, streamIdOf(event));
      return state.status === 'existing' ? accountOfStorage(handler, state.storage_id) : event.stream;
    },
    deadline: ({ data }) => new Date(Date.parse(data.check_at) + lateMsMax),
    isDue: async (id, event) => {
      const dueAt = new Date(event.data.check_at);
      // Its stream is read only when it is due: a waiting check costs no reads.
      if (clock.now() < dueAt) return { notBefore: dueAt };
      const { state } = await handler.load(assetAggregate, id);
      if (state.status !== 'existing' || state.expected?.check_at !== event.data.check_at) return false;
      return isAway(state.storage_id) ? { notBefore: new Date(clock.now().getTime() + awayMs) } : true;
    },
    perform: check,
    run: (id, context, { data: { check_at } }, answer: CheckResult) =>
      handler.handle(
        assetAggregate.at(id),
        { type: 'EndCheck', check_at, answer, now: clock.now() },
        context,
      ),
  });

  async function check(event: ReactionEvent<AssetEvent>, signal: AbortSignal): Promise<CheckResult> {
    const { state } = await handler.load(assetAggregate, streamIdOf(event));
    if (state.status !== 'existing') return null;
    try {
      const answer = await askBucket(state, signal);
      if (answer.kind === 'found') return { seen: answer.object };
      if (answer.kind === 'missing') return { seen: null };
      if (answer.kind === 'away') awayUntil.set(state.storage_id, clock.steadyMs() + awayMs);
      return null;
    } catch (error) {
      // A disabled storage may be enabled before the next check.
      if (isRejection<AssetRejection>(error, 'asset_storage_unusable')) return null;
      throw error;
    }
  }

  function isAway(storageId: string): boolean {
    return clock.steadyMs() < (awayUntil.get(storageId) ?? -Infinity);
  }
}
