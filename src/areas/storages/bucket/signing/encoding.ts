/** Percent-encodes all but the unreserved characters (RFC 3986, section 2.3), the form that all providers sign. */
export function encodeRfc3986(text: string): string {
  if (plain.test(text)) return text;
  return encodeURIComponent(text).replace(/[!'()*]/g, hexOf);
}

export function encodeObjectKey(key: string): string {
  return plainKey.test(key) ? key : key.split('/').map(encodeRfc3986).join('/');
}

const plain = /^[A-Za-z0-9._~-]*$/;
const plainKey = /^[A-Za-z0-9._~/-]*$/;

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

export function canonicalQuery(parameters: readonly (readonly [string, string])[]): string {
  return parameters
    .map(([name, value]): [string, string] => [encodeRfc3986(name), encodeRfc3986(value)])
    .sort(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Compares two names by code unit, the providers' order. For ASCII this is byte order. */
export function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
