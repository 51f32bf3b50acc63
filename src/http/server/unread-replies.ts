import type { ServerResponse } from 'node:http';

/** A shorter text fits into the buffers of its socket, which the limit of connections bounds. */
const largeLength = 64 * 1024;
/** The bytes of large replies that wait for their clients. A page of a list may have 8 MiB. */
const unreadMax = 64 * 1024 * 1024;

/** The bytes of the replies that wait, in their order. */
const unread = new Map<ServerResponse, number>();
let unreadBytes = 0;

/**
 * Returns what to send of a text. A large one counts until its client has read it. Beyond the bound it ends the connections of the
 * replies that have waited longest: else the clients of a hundred connections, who ask for large pages and read none, would take the memory
 * of the process. It is sent as bytes, because Node copies a text twice on its way to the socket.
 */
export function boundUnread(response: ServerResponse, text: string): string | Buffer {
  if (text.length < largeLength || response.destroyed) return text;
  const bytes = Buffer.from(text);
  unread.set(response, bytes.length);
  unreadBytes += bytes.length;
  response.once('close', () => forget(response));
  for (const [oldest] of unread) {
    if (unreadBytes <= unreadMax || oldest === response) break;
    forget(oldest);
    oldest.destroy();
  }
  return bytes;
}

function forget(response: ServerResponse): void {
  unreadBytes -= unread.get(response) ?? 0;
  unread.delete(response);
}
