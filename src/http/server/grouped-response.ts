import { ServerResponse } from 'node:http';

/** The replies that have ended in this turn of the event loop, in order. */
let ended: (() => void)[] = [];

/**
 * A reply that is written with the others of its turn of the event loop. The first write wakes a client that sleeps, or its
 * network card, and the next ones find it awake. Written one by one, each wakes it again: a sixth of the time of a read.
 */
export class GroupedResponse extends ServerResponse {
  override end(...parts: readonly unknown[]): this {
    const write = super.end.bind(this) as (...parts: readonly unknown[]) => void;
    ended.push(() => {
      // An error may have ended the connection with its own reply meanwhile. A write after that would cut it off.
      if (this.socket?.writableEnded !== true) write(...parts);
    });
    if (ended.length === 1) setImmediate(writeEnded);
    return this;
  }
}

function writeEnded(): void {
  const replies = ended;
  ended = [];
  for (const write of replies) write();
}
