import type { InvalidRequest } from '../../../validation/invalid-request.js';
import mime from 'mime';
import { CommandRejected } from '../../../event-sourcing/ports/errors.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { assetNameMax, checkAssetFacts } from '../domain/asset/description.js';
import type { AssetDescription } from '../domain/asset/events.js';
import { rejectAsset, type AssetRejection } from '../domain/asset/rejections.js';
import { describeListRefusal } from '../../storages/domain/storage/list-refusal.js';
import { keyRuleOf, wholeKey } from '../../storages/domain/bucket/object-key.js';
import type { ListedObject } from '../../storages/bucket/objects/list-objects.js';
import type { AssetResource } from '../../../../projections/assets/assets/reader.js';
import type { AssetDeps } from '../deps.js';
import { withoutReordering } from '../../../validation/text.js';
import type { Capacity } from './capacity.js';
import type { ObjectKeys } from './object-keys.js';
import type { PayerOf } from '../../projects/commands/payer-of.js';
import { isRejection } from '../../shared/rejections.js';
import type { OpenedStorage } from '../../storages/commands/open-storage.js';
import type { OpenAssetStorage } from './asset-storage.js';

export interface ImportInput {
  readonly projectId: string;
  readonly storageId: string;
  /** The beginning of the keys below the base path; `''` for all. */
  readonly prefix: string;
  /** `next` of the page before; null for the first page. */
  readonly after: string | null;
  /** The objects that the page lists at most: 1 to 200. */
  readonly limit: number;
}

/** Why an object is no new asset. */
export type SkipReason =
  'already_an_asset' | 'being_deleted' | 'not_a_file' | 'key_not_possible' | 'name_not_possible';

export interface SkippedObject {
  readonly object_key: string;
  readonly reason: SkipReason;
}

export interface ImportedPage {
  readonly added: readonly AssetResource[];
  readonly skipped: readonly SkippedObject[];
  /** The whole key at which the next page begins; null on the last page. */
  readonly next: string | null;
}

/**
 * Lists a page of a bucket and adds an asset for each object that has none (docs/design.md#importing). A repeated page adds
 * nothing twice. A page ends early after 8 s.
 * @throws CommandRejected project_not_found, asset_storage_unusable, bucket_refused, bucket_unavailable, capacity_exceeded
 */
export type ImportAssets = (input: ImportInput, context: CommandContext) => Promise<ImportedPage>;

/** The list may take 5 s before. A request has 15 s. */
const workMs = 8_000;

interface ImportDeps extends Pick<AssetDeps, 'handler' | 'assets' | 'clock' | 'listObjects'> {
  readonly capacity: Pick<Capacity, 'adding'>;
  readonly objectKeys: Pick<ObjectKeys, 'claiming'>;
  readonly payerOf: PayerOf;
  readonly openAssetStorage: OpenAssetStorage;
}

export function makeImportAssets(deps: ImportDeps): ImportAssets {
  const { handler, assets, clock, listObjects, capacity, objectKeys, payerOf, openAssetStorage } = deps;
  return async (input, context) => {
    const { projectId, storageId } = input;
    const payerId = await payerOf(projectId);
    const opened = await openAssetStorage({ storage_id: storageId });
    if (opened.storage.projectId !== projectId) {
      rejectAsset('asset_storage_unusable', 'storage_id names no storage of the project');
    }
    const { objects, isCut } = await list(opened, input);
    const endMs = clock.now().getTime() + workMs;
    const added: AssetResource[] = [];
    const skipped: SkippedObject[] = [];
    let last: string | null = null;
    const judged = objects.map((object) => judge(opened, input, object));
    const possible = judged.flatMap((one) => ('reason' in one ? [] : [one.description.object_key]));
    // One call for the page: an import that is repeated costs a list, and not a read for each object.
    const known =
      possible.length === 0 ? new Map<string, never>() : await assets.holding(storageId, possible);
    for (const one of judged) {
      if (clock.now().getTime() > endMs && last !== null) return { added, skipped, next: last };
      const found = 'reason' in one ? one : await addUnless(known, one, { payerId, context, added });
      if ('reason' in found) skipped.push({ object_key: found.object_key, reason: found.reason });
      else added.push(found);
      last = one.key;
    }
    return { added, skipped, next: isCut ? last : null };
  };

  async function list(
    { urls, storage }: OpenedStorage,
    { prefix, after, limit }: ImportInput,
  ): Promise<{ readonly objects: readonly ListedObject[]; readonly isCut: boolean }> {
    const { provider, base_path: basePath } = storage.configuration;
    const answer = await listObjects({ urls, provider, prefix: wholeKey(basePath, prefix), after, limit });
    if (answer.kind === 'away') {
      return rejectAsset('bucket_unavailable', 'the bucket did not answer, or reported an error; try again');
    }
    if (answer.kind === 'refused') return rejectAsset('bucket_refused', describeListRefusal(answer.failure));
    return answer;
  }

  /** Returns the description of the new asset, or why there can be none. */
  function judge(
    { storage }: OpenedStorage,
    { projectId, storageId }: ImportInput,
    object: ListedObject,
  ): NewAsset | (SkippedObject & { readonly key: string }) {
    const { provider, base_path: basePath } = storage.configuration;
    const { key, size } = object;
    const object_key = key.slice(wholeKey(basePath, '').length);
    const skip = (reason: SkipReason) => ({ key, object_key, reason });
    if (object_key === '' || object_key.endsWith('/')) return skip('not_a_file');
    const name = nameOf(object_key);
    if (name === '') return skip('name_not_possible');
    const media_type = mime.getType(object_key) ?? 'application/octet-stream';
    const facts = { name, object_key, media_type, size, renditions: [] };
    try {
      const checked = checkAssetFacts(facts, keyRuleOf(provider, basePath));
      return { key, object, description: { project_id: projectId, storage_id: storageId, ...checked } };
    } catch (error) {
      if (isRejection<InvalidRequest>(error, 'invalid_request')) return skip('key_not_possible');
      throw error;
    }
  }

  async function addUnless(
    known: ReadonlyMap<string, SkipReason>,
    one: NewAsset,
    page: Page,
  ): Promise<AssetResource | SkippedObject> {
    const { object_key } = one.description;
    const reason = known.get(object_key);
    return reason === undefined ? addOne(one, page) : { object_key, reason };
  }

  async function addOne(
    { description, object }: NewAsset,
    { payerId, context, added }: Page,
  ): Promise<AssetResource | SkippedObject> {
    const { project_id: projectId, storage_id: storageId, object_key, size } = description;
    const assetId = derivedId(context, `import/${object_key}`);
    const { entity_tag } = object;
    const seen = entity_tag === null ? null : { size, entity_tag, media_type: null, sha256: null };
    const add = () =>
      handler.handle({ aggregate: assetAggregate, id: assetId }, { type: 'Add', description, seen }, context);
    const objects = { storageId, assetId, keys: [object_key], commandId: context.commandId };
    try {
      const { documents } = await capacity.adding({ projectId, payerId, assetId, bytes: size }, () =>
        objectKeys.claiming(objects, add),
      );
      return assets.after(documents).resource;
    } catch (error) {
      if (isRejection<AssetRejection>(error, 'object_key_taken'))
        return { object_key, reason: 'already_an_asset' };
      if (!(error instanceof CommandRejected) || error.code !== 'capacity_exceeded') throw error;
      return rejectAsset(
        'capacity_exceeded',
        `${added.length} objects of this page were added; the next one, of ${size} bytes, is larger than the capacity that is left. Add capacity, and repeat the page`,
      );
    }
  }
}

interface NewAsset {
  readonly key: string;
  readonly object: ListedObject;
  readonly description: AssetDescription;
}

interface Page {
  readonly payerId: string;
  readonly context: CommandContext;
  readonly added: readonly AssetResource[];
}

/** Returns the last segment of a key as the name of an asset, cut at the longest name. */
function nameOf(objectKey: string): string {
  const segment = objectKey.slice(objectKey.lastIndexOf('/') + 1);
  return Array.from(withoutReordering(segment)).slice(0, assetNameMax).join('').trim();
}
