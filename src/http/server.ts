import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HttpMetrics } from './metrics.js';
import { describeParseError, rawErrorReply } from './raw-error.js';

/** Limits of the listener (DESIGN section 5); arguments so that tests need not wait. Times in milliseconds. */
export interface ServerLimits {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
  readonly keepAliveTimeout: number;
  readonly headerBytesMax: number;
  readonly connectionsMax: number;
  /** How long `close` lets requests in flight run on. */
  readonly closeWithin: number;
}

export const serverLimits: ServerLimits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  headerBytesMax: 16 * 1024,
  connectionsMax: 1_000,
  closeWithin: 10_000,
};

export interface HttpServer {
  readonly port: number;
  /** Stops accepting, lets requests in flight finish within the bound, then ends every connection. Idempotent. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => unknown;
  readonly host: string;
  readonly port: number;
  readonly metrics: HttpMetrics;
  /** Called as `close` begins, so that replies say `Connection: close`. */
  readonly onClosing?: () => void;
  readonly limits?: Partial<ServerLimits>;
}

/** Listens. @throws what `listen` reports, a port in use for instance */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const limits = { ...serverLimits, ...options.limits };
  const { metrics } = options;
  const server = createServer({
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    connectionsCheckingInterval: limits.connectionsCheckingInterval,
    keepAliveTimeout: limits.keepAliveTimeout,
    maxHeaderSize: limits.headerBytesMax,
    // A missing Host is answered by the application, with a body like every other error.
    requireHostHeader: false,
    noDelay: true,
  });
  server.maxConnections = limits.connectionsMax;
  // Node would drop headers beyond a number without a word; their bytes are bounded already.
  server.maxHeadersCount = 0;

  const answering = new WeakMap<Duplex, ServerResponse>();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    answering.set(request.socket, response);
    options.handler(request, response);
  };
  server.on('request', serve);
  // An expectation that we do not know is no reason to refuse (RFC 9110, 10.1.1: MAY).
  server.on('checkExpectation', serve);
  server.on('connect', (_request, socket) => {
    socket.end(rawErrorReply(405, 'method_not_allowed', 'CONNECT is not supported'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { reason, status, message } = describeParseError(error);
    metrics.connectionRefused(reason);
    endWithError(socket, answering.get(socket), rawErrorReply(status, 'invalid_request', message));
  });
  server.on('drop', () => {
    metrics.connectionRefused('too_many_connections');
  });

  await listen(server, options);
  let closed: Promise<void> | null = null;
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      options.onClosing?.();
      closed ??= closeWithin(server, limits.closeWithin);
      return closed;
    },
  };
}

function listen(server: Server, { host, port }: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 511 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * Writes the reply of a broken request straight to its connection, unless that would fall into the middle of another
 * reply: then the connection ends without a word.
 */
function endWithError(socket: Duplex, last: ServerResponse | undefined, reply: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const pending = last !== undefined && !last.writableFinished;
  if (!pending) {
    socket.end(reply);
  } else if (last.req.complete) {
    // An earlier request of the same connection was whole and still gets its answer.
    last.once('finish', () => socket.end(reply));
  } else if (last.headersSent) {
    socket.destroy();
  } else {
    socket.end(reply, () => socket.destroy());
  }
}

function closeWithin(server: Server, ms: number): Promise<void> {
  return new Promise((resolve) => {
    // Requests may still be arriving on kept-alive connections, so idle ones are swept until none is left.
    const sweep = setInterval(() => {
      server.closeIdleConnections();
    }, 50);
    const deadline = setTimeout(() => {
      server.closeAllConnections();
    }, ms);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
