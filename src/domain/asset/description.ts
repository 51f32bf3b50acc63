import { invalid } from '../invalid-request.js';
import { checkName, isPrintable } from '../text.js';
import type { AssetDescription } from './events.js';

/** The description of a new asset, without its project and storage. */
export type AssetFacts = Omit<AssetDescription, 'project_id' | 'storage_id'>;

export const assetNameMax = 255;
/** In bytes: 5 TiB, the largest object that the providers accept. */
export const assetSizeMax = 5 * 2 ** 40;
export const renditionsMax = 20;
/** The rendition that is the asset's original file. */
export const originalKind = 'original';
export const renditionKind = /^[a-z0-9_-]{1,32}$/;
export const mediaTypeMax = 255;

/**
 * Checks a new asset (docs/design.md#assets). Trims its name, normalises media types, and leaves object keys unchanged.
 * @param keyBytesMax the bytes that the storage's base path leaves for a key
 * @throws CommandRejected invalid_request, naming the field
 */
export function checkAssetFacts(input: AssetFacts, keyBytesMax: number): AssetFacts {
  const { renditions } = input;
  const name = checkName(input.name, 'name', assetNameMax);
  const object_key = checkObjectKey(input.object_key, 'object_key', keyBytesMax);
  const media_type = checkMediaType(input.media_type, 'media_type');
  const size = checkSize(input.size, 'size');
  if (renditions.length > renditionsMax) invalid('renditions', `must be at most ${renditionsMax}`);
  const kinds = new Set<string>([originalKind]);
  const checked = renditions.map((rendition, index) => {
    const field = (of: string): string => `renditions.${index}.${of}`;
    const { kind } = rendition;
    if (!renditionKind.test(kind)) invalid(field('kind'), 'must be 1 to 32 of a-z, 0-9, _ and -');
    if (kinds.has(kind)) invalid(field('kind'), `must be distinct, and not ${originalKind}`);
    kinds.add(kind);
    return {
      kind,
      object_key: checkObjectKey(rendition.object_key, field('object_key'), keyBytesMax),
      media_type: checkMediaType(rendition.media_type, field('media_type')),
      size: checkSize(rendition.size, field('size')),
    };
  });
  return { name, object_key, media_type, size, renditions: checked };
}

function checkSize(size: number | null, field: string): number {
  if (size !== null && Number.isInteger(size) && size >= 0 && size <= assetSizeMax) return size;
  return invalid(field, `must be a whole number of bytes, ${assetSizeMax} (5 TiB) at most`);
}

/** Refuses segments `.` and `..` too: browsers rewrite them, which breaks the signature. */
function checkObjectKey(key: string, field: string, bytesMax: number): string {
  if (!isPrintable(key)) invalid(field, 'must not contain control characters');
  if (key.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    invalid(field, 'must be a path without empty segments, . and .., and without a slash at either end');
  }
  if (Buffer.byteLength(key) > bytesMax) {
    invalid(field, `must be at most ${bytesMax} bytes below the storage's base_path`);
  }
  return key;
}

/** RFC 6838, section 4.2: names of types and subtypes. */
const restrictedName = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}';
/** RFC 9110, sections 5.6.2 and 5.6.4; the quoted form without escapes. */
const token = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const parameter = `[ \\t]*;[ \\t]*(${token})=(${token}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*")`;
const mediaTypePattern = new RegExp(`^(${restrictedName})/(${restrictedName})((?:${parameter})*)$`);

function checkMediaType(text: string, field: string): string {
  const match = text.length > mediaTypeMax ? null : mediaTypePattern.exec(text);
  if (match === null) return invalid(field, 'must be a media type such as video/mp4');
  const [, type = '', subtype = '', rest = ''] = match;
  const parameters = [...rest.matchAll(new RegExp(parameter, 'g'))].map(
    ([, name = '', value = '']) => `; ${name.toLowerCase()}=${value}`,
  );
  return `${type.toLowerCase()}/${subtype.toLowerCase()}${parameters.join('')}`;
}
