import { ServerResponse } from 'node:http';

/** A shorter text fits into the buffers of its socket, which the limit of connections bounds. */
const largeLength = 64 * 1024;
/** The bytes of large replies that wait for their clients. A page of a list may have 8 MiB. */
const unreadMax = 64 * 1024 * 1024;

/** The replies that wait, by their bytes, in the order of the newest reply of each. What replies share counts once. */
const unread = new Map<Buffer, Set<ServerResponse>>();
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
    const isWhole = typeof content === 'string' || Buffer.isBuffer(content);
    const sent = isWhole ? [boundUnread(this, content), ...others] : parts;
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
 * Returns the content; a large text as bytes, because Node copies a text twice on its way to the socket. Large bytes count until the
 * clients have read them. Beyond the bound, the connections of the oldest ones end. Without the bound, a client that reads none of the
 * large pages on its hundred connections uses up the memory of the process.
 */
function boundUnread(response: ServerResponse, content: string | Buffer): string | Buffer {
  if (content.length < largeLength || response.destroyed) return content;
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const replies = unread.get(bytes) ?? new Set();
  if (!unread.delete(bytes)) unreadBytes += bytes.length;
  unread.set(bytes, replies.add(response));
  response.once('close', () => forget(bytes, response));
  for (const [oldest, others] of unread) {
    if (unreadBytes <= unreadMax || oldest === bytes) break;
    for (const other of others) {
      forget(oldest, other);
      other.destroy();
    }
  }
  return bytes;
}

function forget(bytes: Buffer, response: ServerResponse): void {
  const replies = unread.get(bytes);
  if (replies?.delete(response) !== true || replies.size > 0) return;
  unread.delete(bytes);
  unreadBytes -= bytes.length;
}
