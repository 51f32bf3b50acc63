import { isDeepStrictEqual } from 'node:util';
import type { AssetDescription, AssetEvent, Rendition } from './events.js';
import { rejectAsset, renditionNotFound } from './rejections.js';
import { type GivenRendition, checkRenditions, renditionsMax } from './renditions.js';
import { type UploadFields, isSameRendition, sameTag } from './fold.js';
import { checkMediaType, checkSize, eventOfAnswer } from './upload.js';
import { checkAll, checkEach, invalid } from '../../../../validation/field-problems.js';
import { type KeyRule, checkObjectKey } from '../../../storages/domain/bucket/bucket.js';
import { checkName } from '../../../../validation/text.js';

const tagsMax = 20;
const tagMax = 50;

/**
 * Returns the tags of an asset, trimmed, in the given order and in Unicode's form NFC.
 * @throws CommandRejected invalid_request for too many or too long tags, and for two that `sameTag` does not tell apart
 */
function checkTags(tags: readonly string[]): string[] {
  if (tags.length > tagsMax) invalid('tags', `must be at most ${tagsMax}`, 'too_long');
  const checked = checkAll(tags, (tag, index) => checkTag(tag, `tags.${index}`));
  const seen = new Set<string>();
  for (const [index, tag] of checked.entries()) {
    if (seen.has(sameTag(tag)))
      invalid(`tags.${index}`, 'must be distinct (capitals do not count)', 'repeated');
    seen.add(sameTag(tag));
  }
  return checked;
}

/** Trims a tag and returns it in Unicode's form NFC. @throws CommandRejected invalid_request */
export function checkTag(tag: string, field: string): string {
  return checkName(tag, field, tagMax).normalize('NFC');
}

/** The checked description of a new asset, without its project and storage. */
type CheckedFacts = Omit<AssetDescription, 'project_id' | 'storage_id'>;

/** The description of a new asset as a caller gives it. */
export type AssetFacts = Omit<CheckedFacts, 'renditions' | 'tags' | 'object_key'> & {
  /** Left out: the id of the asset, a slash and its name. */
  readonly object_key?: string | undefined;
  readonly renditions: readonly GivenRendition[];
  readonly tags?: readonly string[] | undefined;
};

export const assetNameMax = 255;

/**
 * Checks a new asset (src/areas/assets/README.md#rules-of-an-asset). Trims its name, normalises media types, and leaves object keys unchanged.
 * @param id of the asset, which its key begins with where none is given
 * @throws CommandRejected invalid_request, naming the field
 */
export function checkAssetFacts(input: AssetFacts, keyRule: KeyRule, id = anyId): CheckedFacts {
  const given = input.object_key;
  const ownKey = (): string => `${id}/${input.name.trim()}`;
  return checkEach({
    name: () => {
      const name = checkName(input.name, 'name', assetNameMax);
      if (given === undefined) checkObjectKey(ownKey(), 'name', keyRule);
      return name;
    },
    object_key: () => (given === undefined ? ownKey() : checkObjectKey(given, 'object_key', keyRule)),
    media_type: () => checkMediaType(input.media_type, 'media_type'),
    size: () => checkSize(input.size, 'size'),
    renditions: () => checkRenditions(input.renditions, keyRule),
    tags: () => checkTags(input.tags ?? []),
  });
}

/** As long as each id, for checks before the asset has one. */
const anyId = '00000000-0000-0000-0000-000000000000';

/** Checks a change of an asset. @throws CommandRejected invalid_request, naming the field */
export function checkAssetChanges({ name, tags, media_type, size }: AssetChanges): AssetChanges {
  return checkEach({
    ...(name === undefined ? {} : { name: () => checkName(name, 'name', assetNameMax) }),
    ...(tags === undefined ? {} : { tags: () => checkTags(tags) }),
    ...(media_type === undefined ? {} : { media_type: () => checkMediaType(media_type, 'media_type') }),
    ...(size === undefined ? {} : { size: () => checkSize(size, 'size') }),
  });
}

/** The fields that a caller changes; one that is left out stays as it is. Checked by `checkAssetChanges`. */
export interface AssetChanges {
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly media_type?: string | undefined;
  readonly size?: number | undefined;
}

type Changing = AssetDescription & UploadFields;

/**
 * Decides on a change of an asset's description. Another media type or size is compared with the object that the bucket
 * reported last; without one, the upload stays as it is.
 */
export function changeAsset(asset: Changing, { name, tags, ...file }: AssetChanges): readonly AssetEvent[] {
  return [
    ...changeName(asset, name),
    ...changeTags(asset, tags),
    ...changeFile(asset, { media_type: file.media_type ?? asset.media_type, size: file.size ?? asset.size }),
  ];
}

function changeName(asset: Changing, name = asset.name): readonly AssetEvent[] {
  return name === asset.name ? [] : [{ type: 'AssetRenamed', data: { name } }];
}

function changeTags(asset: Changing, tags: readonly string[] = asset.tags): readonly AssetEvent[] {
  return isDeepStrictEqual(tags, asset.tags) ? [] : [{ type: 'AssetTagged', data: { tags: [...tags] } }];
}

function changeFile(
  asset: Changing,
  { media_type, size }: Pick<AssetDescription, 'media_type' | 'size'>,
): readonly AssetEvent[] {
  if (media_type === asset.media_type && size === asset.size) return [];
  const capacity = capacityChange(asset, size - asset.size);
  const changed = { type: 'AssetFileChanged', data: { media_type, size, capacity } } as const;
  const judged =
    asset.object === null ? null : eventOfAnswer({ ...asset, media_type, size }, asset.object, null);
  return judged === null ? [changed] : [changed, judged];
}

/** @throws CommandRejected rendition_limit_reached */
export function putRendition(asset: AssetDescription, rendition: Rendition): readonly AssetEvent[] {
  const before = asset.renditions.find((one) => isSameRendition(one, rendition));
  if (isDeepStrictEqual(before, rendition)) return [];
  if (before === undefined && asset.renditions.length >= renditionsMax)
    rejectAsset('rendition_limit_reached', `an asset has at most ${renditionsMax} renditions; remove one`);
  const capacity = capacityChange(asset, rendition.size - (before?.size ?? 0));
  return [{ type: 'AssetRenditionPut', data: { rendition, capacity } }];
}

/** @throws CommandRejected rendition_not_found */
export function removeRendition(
  asset: AssetDescription,
  { kind, language }: Pick<Rendition, 'kind' | 'language'>,
): readonly AssetEvent[] {
  const found = asset.renditions.find((one) => isSameRendition(one, { kind, language }));
  if (found === undefined) return renditionNotFound();
  const capacity = capacityChange(asset, -found.size);
  return [{ type: 'AssetRenditionRemoved', data: { kind, language, capacity } }];
}

function capacityChange({ project_id }: AssetDescription, bytes: number) {
  return bytes === 0 ? null : { project_id, bytes };
}
