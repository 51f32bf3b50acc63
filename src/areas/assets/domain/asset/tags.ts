import { checkAll, invalid } from '../../../../validation/invalid-request.js';
import { checkName } from '../../../../validation/text.js';
import { sameTag } from './fold.js';

export const tagsMax = 20;
export const tagMax = 50;

/**
 * Returns the tags of an asset, trimmed, in the given order and in Unicode's form NFC.
 * @throws CommandRejected invalid_request for too many or too long tags, and for two that `sameTag` does not tell apart
 */
export function checkTags(tags: readonly string[]): string[] {
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
