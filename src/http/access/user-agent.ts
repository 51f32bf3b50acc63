import type { IncomingMessage } from 'node:http';

const charactersMax = 256;

/** Returns the client's `User-Agent`, printable ASCII and cut to 256 characters; null if it is empty. */
export function userAgentOf(request: IncomingMessage): string | null {
  const text = request.headers['user-agent']?.replace(/[^\x20-\x7e]/g, '').trim() ?? '';
  return text === '' ? null : text.slice(0, charactersMax);
}
