import { checkAll, checkEach, invalid } from '../../../../validation/field-problems.js';
import { checkObjectKey, type KeyRule } from '../../../storages/domain/bucket/bucket.js';
import type { Rendition } from './events.js';
import { checkMediaType, checkSize } from './upload.js';
import { isSameRendition } from './fold.js';

export const renditionsMax = 20;
/** The rendition that is the asset's original file. */
export const originalKind = 'original';
const renditionKind = /^[a-z0-9_-]{1,32}$/;
/** The only kind with a language: an asset has one rendition of it in each language. */
const subtitlesKind = 'subtitles';
/** A playlist of HTTP Live Streaming (RFC 8216), whose segments are below its folder. */
export const hlsKind = 'hls';

/** The longest tags in use have 35 characters (RFC 5646, section 4.4.1). */
const languageMax = 35;

/** A rendition as a caller gives it. */
export type GivenRendition = Omit<Rendition, 'language'> & {
  /** Left out: null. */
  readonly language?: string | null | undefined;
};

/**
 * Checks a rendition (docs/assets.md#renditions). Normalises media type and language.
 * @param prefix precedes the names of the fields, for example `renditions.0.`
 * @throws CommandRejected invalid_request, naming the field
 */
export function checkRendition(rendition: GivenRendition, keyRule: KeyRule, prefix = ''): Rendition {
  const { kind } = rendition;
  return checkEach({
    kind: () => checkKind(kind, `${prefix}kind`),
    object_key: () => checkObjectKey(rendition.object_key, `${prefix}object_key`, keyRule),
    media_type: () => checkMediaType(rendition.media_type, `${prefix}media_type`),
    size: () => checkSize(rendition.size, `${prefix}size`),
    language: () => checkLanguage(kind, rendition.language ?? null, `${prefix}language`),
  });
}

/** @throws CommandRejected invalid_request */
export function checkKind(kind: string, field: string): string {
  if (!renditionKind.test(kind)) invalid(field, 'must be 1 to 32 of a-z, 0-9, _ and -');
  if (kind === originalKind) invalid(field, `must not be ${originalKind}`, 'not_allowed');
  return kind;
}

/** @throws CommandRejected invalid_request, naming the field; also for two of one kind and language */
export function checkRenditions(renditions: readonly GivenRendition[], keyRule: KeyRule): Rendition[] {
  if (renditions.length > renditionsMax)
    invalid('renditions', `must be at most ${renditionsMax}`, 'too_long');
  const checked = checkAll(renditions, (one, index) => checkRendition(one, keyRule, `renditions.${index}.`));
  for (const [index, one] of checked.entries()) {
    if (checked.findIndex((other) => isSameRendition(one, other)) < index)
      invalid(`renditions.${index}.kind`, 'must be distinct, or subtitles in another language', 'repeated');
  }
  return checked;
}

/** Returns the language as BCP 47 writes it. @throws CommandRejected invalid_request */
export function checkLanguage(kind: string, language: string | null, field = 'language'): string | null {
  if (kind !== subtitlesKind) {
    return language === null
      ? null
      : invalid(field, `must be left out: only ${subtitlesKind} have a language`, 'not_allowed');
  }
  if (language === null) return invalid(field, 'is missing: name the language of the subtitles', 'missing');
  try {
    const [canonical] = language.length > languageMax ? [] : Intl.getCanonicalLocales(language);
    if (canonical !== undefined) return canonical;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return invalid(field, 'must be a language tag such as de or zh-Hans (BCP 47)');
}
