import { mediaTypeEssence } from '../../../../validation/text.js';
import { isDeepStrictEqual } from 'node:util';
import type { ExpectedUpload } from './events.js';
import type { AssetUploadEvent, ObjectDifference, SeenObject, UploadFields } from './fold.js';
import { invalid } from '../../../../validation/field-problems.js';

/** In bytes: 5 TiB, the largest object that the providers accept. */
export const assetSizeMax = 5 * 2 ** 40;
const mediaTypeMax = 255;

/** @throws CommandRejected invalid_request */
export function checkSize(size: number, field: string): number {
  if (Number.isInteger(size) && size >= 0 && size <= assetSizeMax) return size;
  return invalid(field, `must be a whole number of bytes, ${assetSizeMax} (5 TiB) at most`);
}

/** RFC 6838, section 4.2: names of types and subtypes. */
const restrictedName = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}';
/** RFC 9110, sections 5.6.2 and 5.6.4; the quoted form without escapes. */
const token = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const parameter = `[ \\t]*;[ \\t]*(${token})=(${token}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*")`;
const mediaTypePattern = new RegExp(`^(${restrictedName})/(${restrictedName})((?:${parameter})*)$`);

/** Returns the media type in its usual spelling. @throws CommandRejected invalid_request */
export function checkMediaType(text: string, field: string): string {
  const match = text.length > mediaTypeMax ? null : mediaTypePattern.exec(text);
  if (match === null) return invalid(field, 'must be a media type such as video/mp4');
  const [, type = '', subtype = '', rest = ''] = match;
  const parameters = [...rest.matchAll(new RegExp(parameter, 'g'))].map(
    ([, name = '', value = '']) => `; ${name.toLowerCase()}=${value}`,
  );
  return `${type.toLowerCase()}/${subtype.toLowerCase()}${parameters.join('')}`;
}

type Described = { readonly size: number; readonly media_type: string };

/**
 * Returns the event that an answer of the bucket is worth; null where the answer changes nothing.
 * @param seen null: the bucket holds no object
 * @param sha256 the digest that the client computed; null where it gave none
 */
export function eventOfAnswer(
  asset: UploadFields & Described,
  seen: SeenObject | null,
  sha256: string | null,
): AssetUploadEvent | null {
  if (seen === null) return asset.upload === 'pending' ? null : { type: 'AssetUploadMissing', data: {} };
  const known = isUnchanged(asset, seen) ? (asset.object?.sha256 ?? null) : null;
  const object = { ...seen, sha256: seen.sha256 ?? sha256 ?? known };
  const differs = differencesOf(asset, seen, sha256);
  if (isSame(asset, object, differs)) return null;
  return differs.length === 0
    ? { type: 'AssetUploadVerified', data: object }
    : { type: 'AssetUploadMismatched', data: { ...object, differs } };
}

/** An object with the same entity tag has the same content. Without a tag, nothing proves that. */
function isUnchanged({ object }: UploadFields, seen: SeenObject): boolean {
  return seen.entity_tag !== null && isAlike({ object }, seen);
}

function isAlike({ object }: Pick<UploadFields, 'object'>, seen: SeenObject): boolean {
  return object?.entity_tag === seen.entity_tag && object.size === seen.size;
}

function differencesOf(
  asset: UploadFields & Described,
  seen: SeenObject,
  sha256: string | null,
): ObjectDifference[] {
  const differs: ObjectDifference[] = [];
  if (seen.size !== asset.size) differs.push('size');
  if (!isSameType(asset.media_type, seen.media_type)) differs.push('media_type');
  // Only a client that gives a digest again, or another object, ends a difference in the digest.
  const differed = asset.differs.includes('sha256') && isAlike(asset, seen);
  const isOther = sha256 === null ? differed : seen.sha256 !== null && seen.sha256 !== sha256;
  if (isOther) differs.push('sha256');
  return differs;
}

/** The types that storages give to an object whose uploader named none. They say nothing about its content. */
const unnamedTypes: ReadonlySet<string> = new Set(['application/octet-stream', 'binary/octet-stream']);

/** Compares without parameters: storages and clients write them in different ways. */
function isSameType(described: string, seen: string | null): boolean {
  const type = mediaTypeEssence(seen ?? '');
  return type === '' || unnamedTypes.has(type) || type === mediaTypeEssence(described);
}

function isSame(before: UploadFields, object: SeenObject, differs: readonly ObjectDifference[]): boolean {
  const upload = differs.length === 0 ? 'complete' : 'mismatched';
  return isDeepStrictEqual([before.upload, before.object, before.differs], [upload, object, differs]);
}

/**
 * The time from the issued URL, or from the check before, to each check. The second check follows the end of the URL,
 * which lives 15 minutes.
 */
const checkAfterMs: readonly number[] = [90_000, 17 * 60_000, 2 * 3_600_000, 22 * 3_600_000];

/** Returns the check after `attempt` (0: after the issue of a URL); null when that was the last one. */
export function checkAfter(attempt: number, now: Date): ExpectedUpload | null {
  const waitMs = checkAfterMs[attempt];
  if (waitMs === undefined) return null;
  return { attempt: attempt + 1, check_at: new Date(now.getTime() + waitMs).toISOString() };
}
