import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Serves the requests of a connection one after the other, and other connections between them. Without it, all requests
 * of a pipeline (RFC 9112, 9.3.2) begin at once, before those of other clients.
 * @param options.waitingMax requests of a connection that wait; at a further one the connection ends after these
 * @param options.onEnd called when the reply of a served request has ended
 * @returns whether the request is served
 */
export function inTurn(
  serve: Serve,
  { waitingMax, onEnd }: { readonly waitingMax: number; readonly onEnd: (socket: Duplex) => void },
): (request: IncomingMessage, response: ServerResponse) => boolean {
  /** The waiting requests of the connections that have one under way. */
  const queues = new WeakMap<Duplex, Waiting[]>();
  /** Connections whose pipeline was too long. */
  const ended = new WeakSet<Duplex>();

  return (request, response) => {
    const { socket } = request;
    if (ended.has(socket)) {
      // Again, because a reply that ends starts the reading again.
      stopReading(socket);
      return false;
    }
    const queue = queues.get(socket);
    if (queue === undefined) {
      queues.set(socket, []);
      begin({ request, response });
      return true;
    }
    const last = queue.at(-1);
    if (queue.length >= waitingMax && last !== undefined) {
      // The client repeats the requests without a reply on another connection (RFC 9112, 9.3.2).
      last.response.shouldKeepAlive = false;
      ended.add(socket);
      stopReading(socket);
      return false;
    }
    queue.push({ request, response });
    return true;
  };

  function begin({ request, response }: Waiting): void {
    const { socket } = request;
    response.once('close', () => {
      onEnd(socket);
      next(socket);
    });
    serve(request, response);
  }

  function next(socket: Duplex): void {
    const waiting = queues.get(socket)?.shift();
    if (waiting === undefined || socket.destroyed) {
      queues.delete(socket);
      return;
    }
    // The requests of other connections have their turn first.
    setImmediate(begin, waiting);
  }
}

/**
 * Stops reading requests that get no reply: Node parses them and keeps each in memory. Node's HTTP parser reads the handle of
 * the socket itself, so `pause()` has no effect. Its own listener of the event `pause` stops the handle.
 */
function stopReading(socket: Duplex): void {
  socket.emit('pause');
}
