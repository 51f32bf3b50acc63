import { invalid } from '../../../../validation/invalid-request.js';

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
