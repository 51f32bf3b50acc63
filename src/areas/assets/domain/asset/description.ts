import { checkAll, checkEach, invalid } from '../../../../validation/invalid-request.js';
import { type KeyRule, checkObjectKey } from '../../../storages/domain/bucket/object-key-rules.js';
import { checkName } from '../../../../validation/text.js';
import type { AssetDescription } from './events.js';
import { checkMediaType, checkSize } from './upload.js';
import { type GivenRendition, checkRenditions } from './renditions.js';
import type { AssetChanges } from './changes.js';
import { sameTag } from './fold.js';

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
