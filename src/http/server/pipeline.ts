import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { HttpError } from '../replies/error-codes.js';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** The requests of a connection. */
interface Line {
  running: Exchange | null;
  waiting: Exchange[];
  /** Whether no further request of the connection is served. */
  isEnded: boolean;
  /** The reply that ends the connection after those to the requests before it. */
  lastReply: string | null;
}

/** A connection stays open for this long after its last reply, because a reset could reach the client before the reply. */
const lingerMs = 1_000;

/**
 * Serves the requests of each connection one after the other: src/http/README.md#connections. Without an order, all requests
 * of a pipeline (RFC 9112, 9.3.2) begin at once, before those of other clients.
 * @param options.waitingMax requests of a connection that wait; at a further one the connection ends after these
 * @param options.onBegin called before a request is served
 * @param options.onEnd called when the reply of a served request has ended
 * @param options.onLast called when the reply that ends a connection is written: the connection is closed within a second
 */
export function makePipelines(
  serve: Serve,
  input: {
    readonly waitingMax: number;
    readonly onBegin: (socket: Duplex) => void;
    readonly onEnd: (socket: Duplex) => void;
    readonly onLast: (socket: Duplex) => void;
  },
) {
  const { waitingMax, onBegin, onEnd, onLast } = input;
  const lines = new WeakMap<Duplex, Line>();
  return {
    /** Serves a request after those before it, and drops one that arrives after the end of its connection. */
    take: (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const line = lineOf(socket);
      if (line.isEnded) {
        // Again, because a reply that ends starts the reading again.
        stopReading(socket);
      } else if (line.running === null) {
        line.running = { request, response };
        begin(line, line.running);
      } else if (line.waiting.length < waitingMax) {
        line.waiting.push({ request, response });
      } else {
        // The client repeats the requests without a reply on another connection (RFC 9112, 9.3.2).
        for (const last of line.waiting.slice(-1)) last.response.shouldKeepAlive = false;
        line.isEnded = true;
        stopReading(socket);
      }
    },
    /**
     * Ends a connection with a reply to the bytes that are not served. The reply follows those to the requests before it,
     * and nothing that arrives later is served.
     */
    end: (socket: Duplex, reply: string) => {
      const line = lineOf(socket);
      if (line.isEnded) return;
      line.isEnded = true;
      stopReading(socket);
      line.waiting = line.waiting.filter(({ request }) => request.complete);
      const { running } = line;
      if (running === null || !running.request.complete) last(socket, running, reply);
      else line.lastReply = reply;
    },
    /** Returns the request whose body has not arrived yet. */
    incomplete: (socket: Duplex): IncomingMessage | null => {
      const line = lines.get(socket);
      const last = line?.waiting.at(-1) ?? line?.running;
      return last == null || last.request.complete ? null : last.request;
    },
  };

  function last(socket: Duplex, unread: Exchange | null, reply: string): void {
    endWith(socket, unread, reply);
    onLast(socket);
  }

  function lineOf(socket: Duplex): Line {
    const line = lines.get(socket) ?? { running: null, waiting: [], isEnded: false, lastReply: null };
    lines.set(socket, line);
    return line;
  }

  function begin(line: Line, { request, response }: Exchange): void {
    const { socket } = request;
    if (socket.destroyed) return;
    onBegin(socket);
    response.once('close', () => {
      onEnd(socket);
      next(line, socket, response);
    });
    serve(request, response);
  }

  function next(line: Line, socket: Duplex, ended: ServerResponse): void {
    line.running = null;
    if (isLast(ended)) {
      line.isEnded = true;
      return;
    }
    const waiting = line.waiting.shift();
    if (waiting !== undefined) {
      line.running = waiting;
      // The requests of other connections have their turn first.
      setImmediate(begin, line, waiting);
    } else if (line.lastReply !== null) {
      last(socket, null, line.lastReply);
    }
  }
}

/**
 * Refuses a request whose body was late, so that its connection ended with an error before the body arrived.
 * @throws HttpError 400, which no client receives
 */
export function requireConnection({ socket }: IncomingMessage): void {
  if (!socket.writable) throw new HttpError('invalid_request', 'the connection has ended');
}

/** Whether the reply has ended its connection, on which no further request is processed (RFC 9112, 9.6). */
function isLast(response: ServerResponse): boolean {
  return !response.shouldKeepAlive || response.getHeader('connection') === 'close';
}

/** Writes the reply directly to the connection. If another reply is half sent, it only closes the connection. */
function endWith(socket: Duplex, unread: Exchange | null, reply: string): void {
  if (!socket.writable || unread?.response.headersSent === true) {
    socket.destroy();
    return;
  }
  socket.end(reply);
  const lingering = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(lingering));
}

/**
 * Stops reading requests that get no reply: Node parses them and keeps each in memory. Node's HTTP parser reads the handle of
 * the socket itself, so `pause()` has no effect. Its own listener of the event `pause` stops the handle.
 */
function stopReading(socket: Duplex): void {
  socket.emit('pause');
}
