/**
 * Returns whether it is a lower-case host name (RFC 1123, section 2.1): labels of letters, digits and inner hyphens.
 * Underscores count as letters, because names in networks of Compose have them.
 */
export function isHostName(text: string): boolean {
  return (
    text.length <= 253 &&
    /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(text)
  );
}
