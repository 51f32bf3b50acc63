import type { IncomingMessage } from 'node:http';

const charactersMax = 256;

/** What the client calls itself, printable ASCII and cut to 256 characters; null where it says nothing. */
export function userAgentOf(request: IncomingMessage): string | null {
  const text = request.headers['user-agent']?.replace(/[^\x20-\x7e]/g, '').trim() ?? '';
  return text === '' ? null : text.slice(0, charactersMax);
}
