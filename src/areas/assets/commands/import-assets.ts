import type { InvalidRequest } from '../../../validation/field-problems.js';
import mime from 'mime';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../event-sourcing/deciding/command-handler.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { assetNameMax, checkAssetFacts } from '../domain/asset/changes.js';
import type { AssetDescription } from '../domain/asset/events.js';
import { rejectAsset, type AssetRejection } from '../domain/asset/rejections.js';
import { describeListRefusal } from '../../storages/domain/delivery/test-failure.js';
import { keyRuleOf, wholeKey } from '../../storages/domain/bucket/bucket.js';
import type { ListedObject } from '../../storages/bucket/objects/list-objects.js';
import type { AssetResource } from '../../../../projections/assets/assets/resource.js';
import type { AssetDeps } from '../deps.js';
import { showsSomething, withoutReordering } from '../../../validation/text.js';
import type { Capacity } from './capacity.js';
import type { ObjectKeys } from './object-keys.js';
import type { PayerOf } from '../../projects/commands/projects.js';
import { elementsOfRecord, processPace } from '../../../kit/read-in-turns.js';
import { isRejection } from '../../shared/rejections.js';
import type { OpenedStorage } from '../../storages/commands/open-storage.js';

interface ImportInput {
  readonly projectId: string;
  readonly storageId: string;
  /** The beginning of the keys below the base path; `''` for all. */
  readonly prefix: string;
  /** `next` of the page before; null for the first page. */
  readonly cursor: ImportCursor | null;
  /** The objects that the page lists at most: 1 to 200. */
  readonly limit: number;
}

/** Why an object is no new asset. */
export const skipReasons = [
  'already_an_asset',
  'being_deleted',
  'not_a_file',
  'key_not_possible',
  'key_unconfirmed',
  'name_not_possible',
] as const;
type SkipReason = (typeof skipReasons)[number];

type SkippedObject = { readonly object_key: string; readonly reason: SkipReason };

interface ImportedPage {
  readonly added: readonly AssetResource[];
  readonly skipped: readonly SkippedObject[];
  /** Where the next page begins; null on the last page. */
  readonly next: ImportCursor | null;
}

/** Where an import goes on. */
export interface ImportCursor {
  /** The bucket's own token of the page; null for its first page. */
  readonly token: string | null;
  /** The object of that page up to which it was read, as the bucket writes its key; null where none was. */
  readonly read: string | null;
  /**
   * A page that was asked for since the last added asset, how many pages may follow before it gives way to a later one, and
   * how many at first (Brent's search for a cycle). A list that comes to the page again would never end.
   */
  readonly seen: { readonly token: string | null; readonly left: number; readonly pages: number };
}

/** The list may take 5 s before. A request has 15 s. */
const importMsMax = 8_000;
/** Objects that are looked up at once. */
const atOnce = 20;

interface ImportDeps extends Pick<
  AssetDeps,
  'handler' | 'assets' | 'listObjects' | 'headObject' | 'openStorage' | 'importMs'
> {
  readonly capacity: Pick<Capacity, 'judged' | 'requireFresh'>;
  readonly objectKeys: Pick<ObjectKeys, 'claiming'>;
  readonly payerOf: PayerOf;
}

/**
 * Lists a page of a bucket and adds an asset for each object that has none (src/areas/assets/README.md#importing). A repeated page adds
 * nothing twice. A page ends early after 8 s.
 * @throws CommandRejected project_not_found, asset_storage_unusable, bucket_refused, bucket_unavailable, cursor_expired,
 * capacity_exceeded
 */
export function makeImportAssets(deps: ImportDeps) {
  const { handler, assets, listObjects, headObject, capacity, objectKeys, payerOf, openStorage } = deps;
  return async (input: ImportInput, context: CommandContext) => {
    const { projectId, storageId, limit, cursor } = input;
    capacity.requireFresh();
    const payerId = await payerOf(projectId);
    const opened = await openStorage.serving(storageId);
    // The project comes first: another one learns nothing about the storage.
    if (opened?.storage.projectId !== projectId)
      return rejectAsset('asset_storage_unusable', 'storage_id names no storage of the project');
    if (opened.storage.status === 'disabled')
      rejectAsset('asset_storage_unusable', 'the storage is disabled; enable it first');
    const { objects, next } = await list(opened, input);
    // A page that has changed since without its last object is read from its beginning.
    const begin = objects.findIndex(({ text }) => text === cursor?.read) + 1;
    const some = objects.slice(begin, begin + limit);
    const { read, added, skipped } = await importSome(opened, input, some, { payerId, context });
    const from = cursor ?? beginning;
    const last = begin + read < objects.length ? objects[begin + read - 1] : undefined;
    if (last === undefined && next === null) return { added, skipped, next: null };
    const position =
      last === undefined ? { token: next, read: null } : { token: from.token, read: last.text };
    return { added, skipped, next: { ...position, seen: seenAt(from, position, added.length > 0) } };
  };

  async function importSome(
    opened: OpenedStorage,
    input: ImportInput,
    objects: readonly ListedObject[],
    by: Omit<Page, 'added'>,
  ): Promise<Omit<ImportedPage, 'next'> & { readonly read: number }> {
    const signal = AbortSignal.timeout(deps.importMs ?? importMsMax);
    const basePath = opened.storage.configuration.base_path;
    const keys = objects.flatMap(({ readings }) => readings.map((key) => below(basePath, key)));
    // Many imports at once look one page up in a turn of the process.
    await processPace.spend({ bytes: 0, elements: keys.length * elementsOfRecord });
    // One call for the page: an import that is repeated costs a list, and not a read for each object.
    const known = keys.length === 0 ? new Map<string, never>() : await assets.holding(input.storageId, keys);
    const added: AssetResource[] = [];
    const skipped: SkippedObject[] = [];
    let read = 0;
    // A page that read no object would look like a whole one.
    const isLate = () => signal.aborted && read > 0;
    while (read < objects.length && !isLate()) {
      await processPace.spend({ bytes: 0, elements: atOnce * elementsOfRecord });
      const some = objects.slice(read, read + atOnce);
      for (const one of await Promise.all(
        some.map((object) => judge(opened, input, object, { signal, known })),
      )) {
        if (isLate()) break;
        const found = 'reason' in one ? one : await addOne(one, { ...by, added });
        if ('reason' in found) skipped.push(found);
        else added.push(found);
        read += 1;
      }
    }
    return { read, added, skipped };
  }

  async function list({ urls, storage }: OpenedStorage, { prefix, cursor, limit }: ImportInput) {
    const { provider, base_path: basePath } = storage.configuration;
    const page = { prefix: wholeKey(basePath, prefix), token: cursor?.token ?? null, limit };
    const answer = await listObjects({ urls, provider, ...page });
    if (answer.kind === 'away')
      return rejectAsset('bucket_unavailable', 'the bucket did not answer, or reported an error; try again');
    if (answer.kind === 'expired')
      return rejectAsset('cursor_expired', 'the bucket no longer takes this cursor; begin again without one');
    if (answer.kind === 'refused') return rejectAsset('bucket_refused', describeListRefusal(answer.failure));
    return answer;
  }

  /** Returns the description of the new asset, or why there is none. */
  async function judge(
    { urls, storage }: OpenedStorage,
    { projectId, storageId }: ImportInput,
    listed: ListedObject,
    { signal, known }: { readonly signal: AbortSignal; readonly known: KnownObjects },
  ): Promise<NewAsset | SkippedObject> {
    const { provider, base_path: basePath } = storage.configuration;
    const [likely] = listed.readings;
    if (likely === undefined) return { object_key: listed.text, reason: 'key_not_possible' };
    const confirmed = await confirm(listed, likely);
    const object_key = below(basePath, confirmed?.key ?? likely);
    const skip = (reason: SkipReason) => ({ object_key, reason });
    if (object_key === '' || object_key.endsWith('/')) return skip('not_a_file');
    if (confirmed === null) return skip('key_unconfirmed');
    const name = nameOf(object_key);
    if (!showsSomething(name)) return skip('name_not_possible');
    // A key without a folder and a dot would count as an ending.
    const media_type = mime.getType(`/${object_key}`) ?? 'application/octet-stream';
    const facts = { name, object_key, media_type, size: listed.size, renditions: [] };
    try {
      const checked = checkAssetFacts(facts, keyRuleOf(provider, basePath));
      const held = known.get(object_key);
      if (held !== undefined) return skip(held.reason);
      const { entity_tag } = confirmed;
      return { entity_tag, description: { project_id: projectId, storage_id: storageId, ...checked } };
    } catch (error) {
      if (isRejection<InvalidRequest>(error, 'invalid_request')) return skip('key_not_possible');
      throw error;
    }

    /** Returns the reading under which the bucket has the object; null where it names none in time. */
    async function confirm({ isSure, readings, size, entity_tag }: ListedObject, key: string) {
      if (isSure) return { key, entity_tag };
      const object = known.get(below(basePath, key))?.object;
      if (entity_tag !== null && object?.entity_tag === entity_tag && object.size === size)
        return { key, entity_tag };
      for (const reading of readings) {
        const answer = await headObject({ urls, provider, key: reading }, signal).catch((error: unknown) => {
          if (signal.aborted) return null;
          throw error;
        });
        if (answer?.kind === 'found' && answer.object.size === size)
          return { key: reading, entity_tag: answer.object.entity_tag };
      }
      return null;
    }
  }

  async function addOne(
    { description, entity_tag }: NewAsset,
    { payerId, context, added }: Page,
  ): Promise<AssetResource | SkippedObject> {
    const { project_id: projectId, storage_id: storageId, object_key, size } = description;
    const assetId = derivedId(context, `import/${object_key}`);
    const seen = { size, entity_tag, media_type: null, sha256: null };
    const add = () => handler.handle(assetAggregate.at(assetId), { type: 'Add', description, seen }, context);
    const objects = { storageId, assetId, keys: [object_key], commandId: context.commandId };
    try {
      const asset = { projectId, payerId, assetId, bytes: size, isNew: true };
      const { documents } = await capacity.judged(asset, context, () => objectKeys.claiming(objects, add));
      return assets.after(documents).resource;
    } catch (error) {
      if (isRejection<AssetRejection>(error, 'object_key_taken'))
        return { object_key, reason: 'already_an_asset' };
      if (!isRejection<AssetRejection>(error, 'capacity_exceeded')) throw error;
      return rejectAsset(
        'capacity_exceeded',
        `${added.length} objects of this page were added; the next one, of ${size} bytes, is larger than the capacity that is left. Add capacity, and repeat the page`,
      );
    }
  }
}

type KnownObjects = Awaited<ReturnType<AssetDeps['assets']['holding']>>;

type NewAsset = { readonly entity_tag: string | null; readonly description: AssetDescription };

interface Page {
  readonly payerId: string;
  readonly context: CommandContext;
  readonly added: readonly AssetResource[];
}

const beginning: ImportCursor = { token: null, read: null, seen: { token: null, left: 1, pages: 1 } };

/**
 * Returns the page to recognise, after a page that was read.
 * @throws CommandRejected bucket_refused, where the bucket comes to a page again and none of its objects was new
 */
function seenAt(
  { token: asked, seen }: ImportCursor,
  { token, read }: Pick<ImportCursor, 'token' | 'read'>,
  hasAdded: boolean,
): ImportCursor['seen'] {
  if (hasAdded) return { token, left: 1, pages: 1 };
  if (read !== null) return seen;
  if (token === asked || token === seen.token)
    rejectAsset('bucket_refused', describeListRefusal({ code: 'list_unusable', hint: null }));
  if (seen.left > 1) return { ...seen, left: seen.left - 1 };
  return { token, left: seen.pages * 2, pages: seen.pages * 2 };
}

/** Returns a key of the bucket relative to the base path. */
function below(basePath: string, key: string): string {
  return key.slice(wholeKey(basePath, '').length);
}

/** Returns the last segment of a key as the name of an asset, cut at the longest name. */
function nameOf(objectKey: string): string {
  const segment = objectKey.slice(objectKey.lastIndexOf('/') + 1);
  return Array.from(withoutReordering(segment)).slice(0, assetNameMax).join('').trim();
}
