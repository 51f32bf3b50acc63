/** A reply as it came over a connection. */
export interface RawReply {
  readonly status: number;
  /** Header values by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/**
 * Parses the first complete final reply of the received bytes, and its length in bytes; null while it is incomplete. A
 * body has a Content-Length, as all bodies of this service have. Interim replies (1xx) are skipped.
 * @param options.toHead whether the request was a HEAD, whose reply ends with its headers
 */
export function takeReply(
  received: Buffer,
  { toHead = false }: { readonly toHead?: boolean } = {},
): { readonly reply: RawReply; readonly length: number } | null {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  if (status < 200) {
    const next = takeReply(received.subarray(headEnd + 4), { toHead });
    return next === null ? null : { ...next, length: next.length + headEnd + 4 };
  }
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyLength = toHead || status === 204 || status === 304 ? 0 : Number(headers.get('content-length'));
  const length = headEnd + 4 + bodyLength;
  if (received.length < length) return null;
  return { reply: { status, headers, text: received.toString('utf8', headEnd + 4, length) }, length };
}
