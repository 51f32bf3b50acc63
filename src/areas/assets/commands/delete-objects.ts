import type { DeletionAttempt, PendingDeletion, undeletedCauses } from '../domain/asset/deletion.js';
import type { AssetEvent, UndeletedObject } from '../domain/asset/events.js';
import { wholeKey } from '../../storages/domain/bucket/bucket.js';
import { storageAggregate } from '../../storages/domain/storage/storage.js';
import type { DeleteAnswer } from '../../storages/bucket/objects/call-bucket.js';
import type { AssetDeps } from '../deps.js';
import type { ObjectKeys, ObjectPlace } from './object-keys.js';
import { everyId } from '../../shared/deps.js';
import { accountOfStorage, type OpenedStorage } from '../../storages/commands/open-storage.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { type Position, streamIdOf } from '../../../event-sourcing/ports/domain-event.js';
import { on } from '../../../event-sourcing/effects/reaction.js';

/**
 * Deletes the objects of a removed asset from its bucket (src/areas/assets/README.md#deleting-objects). An object that another asset of
 * any storage with this bucket has, or is getting, stays.
 * @throws the errors of `OpenStorage.serving`, Overloaded, StoreUnavailable; the signal's reason
 */
type DeleteObjects = ReturnType<typeof makeDeleteObjects>;

/** A storage that leads to a bucket, as far as the name of the bucket says it. */
type Binding = { readonly storageId: string; readonly basePath: string };

export function makeDeleteObjects(deps: AssetDeps & { readonly objectKeys: Pick<ObjectKeys, 'deleting'> }) {
  const { handler, storages, deleteObject, openStorage, objectKeys } = deps;
  return async (assetId: string, pending: PendingDeletion, signal: AbortSignal) => {
    const opened = await openStorage.serving(pending.storage_id);
    const obstacle = obstacleOf(opened, pending);
    if (opened === null || obstacle !== null) {
      const cause = obstacle ?? 'storage_deleted';
      return { left: pending.object_keys.map((key) => undeleted(key, cause, null)), kept: [] };
    }
    const bindings = await bindingsOf(pending, signal);
    const answers = await Promise.all(
      pending.object_keys.map(async (key) => ({ key, answer: await deleteOne(key, opened, bindings) })),
    );
    return {
      left: answers.flatMap(({ key, answer }) =>
        answer === 'kept' || answer === 'deleted' ? [] : [undeleted(key, answer.cause, answer.providerCode)],
      ),
      kept: answers.flatMap(({ key, answer }) => (answer === 'kept' ? [key] : [])),
    };

    async function deleteOne(
      objectKey: string,
      { urls }: OpenedStorage,
      bindings: readonly Binding[],
    ): Promise<DeleteAnswer | 'kept'> {
      const key = wholeKey(pending.base_path, objectKey);
      const places = [
        { storageId: pending.storage_id, key: objectKey },
        ...bindings.flatMap((binding) => placeIn(binding, key)),
      ];
      const deleted = await objectKeys.deleting({ assetId, places }, async () => {
        const answer = await deleteObject({ urls, key }, signal);
        return { answer, isAnswered: answer === 'deleted' || answer.isAnswered };
      });
      return deleted === 'kept' ? 'kept' : deleted.answer;
    }
  };

  /**
   * Returns the other storages whose bucket has the same name, and whose folder can hold one of the objects. Two names of one
   * bucket cannot be told apart from two buckets, for example behind a domain, so the name alone decides.
   */
  async function bindingsOf(
    { bucket, base_path, storage_id, object_keys }: PendingDeletion,
    signal: AbortSignal,
  ): Promise<readonly Binding[]> {
    const keys = object_keys.map((key) => wholeKey(base_path, key));
    const bindings: Binding[] = [];
    for await (const storageId of everyId((page) => storages.withBucket(bucket, page))) {
      signal.throwIfAborted();
      if (storageId === storage_id) continue;
      const { state } = await handler.load(storageAggregate, storageId);
      if (state.status === 'absent' || state.status === 'deleted') continue;
      if (state.configuration.bucket !== bucket) continue;
      const binding = { storageId, basePath: state.configuration.base_path };
      if (keys.some((key) => placeIn(binding, key).length > 0)) bindings.push(binding);
    }
    return bindings;
  }
}

/** Returns why the objects cannot be deleted now, or never, without a question to the bucket. */
function obstacleOf(
  opened: OpenedStorage | null,
  { endpoint, bucket, region, base_path }: PendingDeletion,
): (typeof undeletedCauses)[number] | null {
  if (opened === null) return 'storage_deleted';
  const { status, configuration } = opened.storage;
  const isSame =
    configuration.endpoint === endpoint &&
    configuration.bucket === bucket &&
    configuration.region === region &&
    configuration.base_path === base_path;
  if (!isSame) return 'storage_changed';
  return status === 'disabled' ? 'storage_disabled' : null;
}

function placeIn({ storageId, basePath }: Binding, key: string): readonly ObjectPlace[] {
  const folder = wholeKey(basePath, '');
  return key.startsWith(folder) && key !== folder ? [{ storageId, key: key.slice(folder.length) }] : [];
}

function undeleted(object_key: string, cause: string, provider_code: string | null): UndeletedObject {
  return { object_key, cause, provider_code };
}

type Due = Extract<AssetEvent, { type: 'AssetDeletionRequested' | 'AssetDeletionPutOff' }>;

/**
 * Deletes the objects of a removed asset from its bucket, where the removal asked for it. It tries at once and then each
 * day, 7 times in all.
 */
export function makeDeleteAssetObjects(
  deps: Pick<AssetDeps, 'handler' | 'clock'> & {
    readonly deleteObjects: DeleteObjects;
    /** Says whether the views of storages and assets have reached the position. */
    readonly viewsShow: (position: Position) => boolean;
  },
) {
  const { handler, clock, deleteObjects, viewsShow } = deps;
  return on(assetAggregate, ['AssetDeletionRequested', 'AssetDeletionPutOff'], {
    name: 'delete-objects',
    hasTimers: true,
    // A silent bucket keeps a slot for 5 s.
    atOnceMax: 32,
    account: async (event) => {
      const pending = await pendingOf(streamIdOf(event));
      return pending === null ? event.stream : accountOfStorage(handler, pending.storage_id);
    },
    isDue: async (id, event) => {
      if (event.type === 'AssetDeletionPutOff') {
        const notBefore = new Date(event.data.delete_at);
        if (clock.now() < notBefore) return { notBefore };
      }
      if (!viewsShow(event.position)) return 'not-yet';
      return (await pendingOf(id))?.attempt === attemptOf(event);
    },
    perform: async (event, signal) => {
      const assetId = streamIdOf(event);
      const pending = await pendingOf(assetId);
      return pending === null ? { left: [], kept: [] } : deleteObjects(assetId, pending, signal);
    },
    run: async (id, context, event, found: DeletionAttempt) => {
      const attempt = attemptOf(event);
      const command = { type: 'RecordDeletion', attempt, now: clock.now(), ...found } as const;
      await handler.handle(assetAggregate.at(id), command, context);
    },
  });

  async function pendingOf(assetId: string): Promise<PendingDeletion | null> {
    const { state } = await handler.load(assetAggregate, assetId);
    return state.status === 'removed' ? state.deletion : null;
  }
}

function attemptOf(event: Due): number {
  return event.type === 'AssetDeletionRequested' ? 1 : event.data.attempt;
}
