import { mediaTypeEssence } from '../../../src/validation/text.js';
import { hash } from 'node:crypto';
import { sameTag } from '../../../src/areas/assets/domain/asset/fold.js';
import type { AssetResource } from './resource.js';
import { beginningsOf, hasWords, indexedBeginning, sortedName, searchedWords } from '../../words.js';

/** What a list of assets selects; an asset must have all of it. */
export interface AssetFilter {
  /** Words, each of which begins a word of the name. */
  readonly q?: string | undefined;
  /** A media type without parameters, or `<type>/*`. */
  readonly media_type?: string | undefined;
  readonly created_after?: string | undefined;
  readonly tag?: string | undefined;
  readonly upload?: AssetResource['upload'] | undefined;
}

/** The fields that only the indexes of the view need. */
export type AssetIndexes = {
  /** Marks that `find` looks up: of tags, media types, and beginnings of words. */
  readonly found_by: readonly string[];
  /** The sort keys of the orders by name and size, each of which begins with the project. */
  readonly by_name: string;
  readonly by_size: string;
  /** The objects of the asset and of its renditions: see `objectPlace`. */
  readonly object_places: readonly string[];
};

type Found = Pick<AssetResource, 'name' | 'media_type' | 'size' | 'tags' | 'upload'>;
type Indexed = Found & Pick<AssetResource, 'project_id' | 'storage_id' | 'object_key' | 'renditions'>;

export function indexesOf(asset: Indexed): AssetIndexes {
  const { project_id: project, storage_id, name, media_type, size, tags, upload } = asset;
  const essence = mediaTypeEssence(media_type);
  const keys = [asset.object_key, ...asset.renditions.map(({ object_key }) => object_key)];
  return {
    found_by: [
      ...tags.map((tag) => mark(project, 'tag', sameTag(tag))),
      // Shares of a tag read these only: thousands of assets may wait for their upload.
      ...(upload === 'complete' ? tags.map((tag) => mark(project, 'complete', sameTag(tag))) : []),
      mark(project, 'type', essence),
      mark(project, 'type', `${topLevelOf(essence)}/*`),
      mark(project, 'upload', upload),
      ...[...beginningsOf(name)].map((beginning) => mark(project, 'word', beginning)),
    ],
    by_name: sortKey(project, sortedName(name)),
    // 5 TiB have 13 digits.
    by_size: sortKey(project, String(size).padStart(13, '0')),
    object_places: [...new Set(keys.map((key) => objectPlace(storage_id, key)))],
  };
}

/** Returns the value by which the view finds the asset that has an object. Keys of 1,024 bytes are too long for an index. */
export function objectPlace(storageId: string, objectKey: string): string {
  return `${storageId}/${hash('sha256', objectKey, 'base64url')}`;
}

/** Returns the mark that finds the fewest assets, as far as that is known; null where no index helps. */
export function findingMark(project: string, { q, media_type, tag, upload }: AssetFilter): string | null {
  if (tag !== undefined) return mark(project, upload === 'complete' ? 'complete' : 'tag', sameTag(tag));
  const beginning = q === undefined ? null : indexedBeginning(searchedWords(q));
  if (beginning !== null) return mark(project, 'word', beginning);
  // Most assets are complete.
  if (upload !== undefined && (upload !== 'complete' || media_type === undefined))
    return mark(project, 'upload', upload);
  return media_type === undefined ? null : mark(project, 'type', media_type.toLowerCase());
}

/** Makes the check of a filter. */
export function makeMatches(
  filter: AssetFilter,
): (asset: Found & Pick<AssetResource, 'created_at'>) => boolean {
  const words = filter.q === undefined ? [] : searchedWords(filter.q);
  const tag = filter.tag === undefined ? null : sameTag(filter.tag);
  const type = filter.media_type?.toLowerCase();
  const after = filter.created_after === undefined ? null : Date.parse(filter.created_after);
  return ({ name, media_type, tags, created_at, upload }) =>
    (filter.upload === undefined || upload === filter.upload) &&
    (after === null || Date.parse(created_at) > after) &&
    (tag === null || tags.some((one) => sameTag(one) === tag)) &&
    (type === undefined || isOfType(mediaTypeEssence(media_type), type)) &&
    // A search without letters and digits finds nothing: it has no words.
    (filter.q === undefined || (words.length > 0 && hasWords(name, words)));
}

function isOfType(essence: string, wanted: string): boolean {
  return wanted.endsWith('/*') ? `${topLevelOf(essence)}/*` === wanted : essence === wanted;
}

function topLevelOf(essence: string): string {
  return essence.split('/')[0] ?? '';
}

function mark(project: string, kind: 'tag' | 'complete' | 'type' | 'upload' | 'word', value: string): string {
  return `${project}/${kind}/${value}`;
}

/** Returns a sort key in an order of the project's assets. All sort keys of a project lie before `pastSortKeys`. */
export function sortKey(project: string, value: string): string {
  return `${project}/${value}`;
}

/** Returns a text that sorts after all sort keys of a project, and before those of the next: `0` follows `/`. */
export function pastSortKeys(project: string): string {
  return `${project}0`;
}
