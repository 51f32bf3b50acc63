import { ServerResponse } from 'node:http';

/** A shorter text fits into the buffers of its socket, which the limit of connections bounds. */
const largeLength = 64 * 1024;
/** The bytes of large replies that wait for their clients. A page of a list may have 8 MiB. */
const unreadMax = 64 * 1024 * 1024;

/** The bytes of the replies that wait, in their order. */
const unread = new Map<ServerResponse, number>();
let unreadBytes = 0;

/** Each writes a reply that has ended in this turn of the event loop. */
let writes: (() => void)[] = [];

/**
 * A reply that is written with the others of its turn of the event loop. The first write wakes a client that sleeps, or its
 * network card, and the next ones find it awake. Written one by one, each wakes it again: a sixth of the time of a read.
 */
export class GroupedResponse extends ServerResponse {
  override end(...parts: readonly unknown[]): this {
    const write = super.end.bind(this) as (...parts: readonly unknown[]) => void;
    const [content, ...others] = parts;
    const sent = typeof content === 'string' ? [boundUnread(this, content), ...others] : parts;
    writes.push(() => write(...sent));
    if (writes.length === 1) setImmediate(writeAll);
    return this;
  }
}

function writeAll(): void {
  const ended = writes;
  writes = [];
  for (const write of ended) write();
}

/**
 * Returns the text; a large one as bytes, because Node copies a text twice on its way to the socket. A large reply counts until its
 * client has read it. Beyond the bound, the connection of the oldest one ends. Without the bound, a client that reads none of the
 * large pages on its hundred connections uses up the memory of the process.
 */
function boundUnread(response: ServerResponse, text: string): string | Buffer {
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
