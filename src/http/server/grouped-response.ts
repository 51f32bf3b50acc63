import { ServerResponse } from 'node:http';
import { boundUnread } from './unread-replies.js';

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
