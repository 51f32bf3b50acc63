/** Returns whether it is a lower-case host name (RFC 1123, section 2.1): labels of letters, digits, inner hyphens. */
export function isHostName(text: string): boolean {
  return (
    text.length <= 253 &&
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
  );
}
