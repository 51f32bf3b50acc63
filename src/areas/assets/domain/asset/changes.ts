import type { AssetDescription, AssetEvent, Rendition } from './events.js';
import { rejectAsset, renditionNotFound } from './rejections.js';
import { renditionsMax } from './renditions.js';
import { isSameRendition, type UploadFields } from './fold.js';
import { eventOfAnswer } from './upload.js';

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
  return isSameList(tags, asset.tags) ? [] : [{ type: 'AssetTagged', data: { tags: [...tags] } }];
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

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index]);
}

/** @throws CommandRejected rendition_limit_reached */
export function putRendition(asset: AssetDescription, rendition: Rendition): readonly AssetEvent[] {
  const before = asset.renditions.find((one) => isSameRendition(one, rendition));
  if (before !== undefined && isSameFile(before, rendition)) return [];
  if (before === undefined && asset.renditions.length >= renditionsMax) {
    rejectAsset('rendition_limit_reached', `an asset has at most ${renditionsMax} renditions; remove one`);
  }
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

function isSameFile(one: Rendition, other: Rendition): boolean {
  return (
    one.object_key === other.object_key && one.media_type === other.media_type && one.size === other.size
  );
}

function capacityChange({ project_id }: AssetDescription, bytes: number) {
  return bytes === 0 ? null : { project_id, bytes };
}
