/** Bytes that WebCrypto accepts. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the UTF-8 form of a text. */
export function utf8Of(text: string): Bytes {
  return Uint8Array.from(new TextEncoder().encode(text));
}

/** Computes SHA-256. @throws Error where the page is not in a secure context: browsers then have no WebCrypto */
export async function digestOfBytes(data: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', data));
}

/** Parses base64 with padding. Returns null when the text is not the one form of its bytes. */
export function bytesFromBase64(text: string): Bytes | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return base64Of(bytes) === text ? bytes : null;
}

/** Returns base64 with padding. */
export function base64Of(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Returns lower-case hexadecimal digits. */
export function hexOf(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function joinBytes(...parts: readonly Bytes[]): Bytes {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export function areSameBytes(one: Bytes, other: Bytes): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
