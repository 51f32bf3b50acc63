import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ClientKey, makeConnections } from './connections.js';
import { GroupedResponse } from './grouped-response.js';
import type { HttpMetrics } from '../metrics.js';
import { makePipelines } from './pipeline.js';
import {
  type RequestHead,
  type UnparsedBytes,
  describeParseError,
  headOf,
  rawErrorReply,
} from './raw-route.js';

/** src/http/README.md#connections; in milliseconds. Tests pass their own, so that they need not wait. */
export interface ServerLimits {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
  readonly keepAliveTimeout: number;
  readonly headerBytesMax: number;
  readonly connectionsMax: number;
  /** Of one client address. The setting is `MAX_CONNECTIONS_PER_CLIENT`. */
  readonly connectionsPerClientMax: number;
  /** Requests of a connection that wait for the one before them. */
  readonly pipelinedMax: number;
  /** For requests in flight at `close`. */
  readonly closeWithin: number;
}

export const serverLimits: ServerLimits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  headerBytesMax: 16 * 1024,
  connectionsMax: 1_000,
  connectionsPerClientMax: 100,
  pipelinedMax: 16,
  closeWithin: 10_000,
};

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

export interface HttpServerOptions {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => unknown;
  readonly host: string;
  readonly port: number;
  readonly metrics: HttpMetrics;
  /** The keys by which connections count; by default each address is a client. */
  readonly clientsOf?: (address: string | undefined) => readonly ClientKey[];
  /** Returns further headers for an error that answers a request which cannot be parsed. */
  readonly headersOfErrors?: (head: RequestHead) => Readonly<Record<string, string>>;
  /** Called at the start of `close`, so that replies contain `Connection: close`. */
  readonly onClosing?: () => void;
  readonly limits?: Partial<ServerLimits>;
}

/** Listens. @throws the error of `listen`, for example for a port in use */
export async function startHttpServer(options: HttpServerOptions) {
  const limits = { ...serverLimits, ...options.limits };
  const { metrics } = options;
  const server = createServer<typeof IncomingMessage, typeof GroupedResponse>({
    ServerResponse: GroupedResponse,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    connectionsCheckingInterval: limits.connectionsCheckingInterval,
    keepAliveTimeout: limits.keepAliveTimeout,
    maxHeaderSize: limits.headerBytesMax,
    // The application answers a request without Host, with a body like every other error.
    requireHostHeader: false,
    noDelay: true,
  });
  // The registry refuses earlier. A connection that it closed counts here until its end.
  server.maxConnections = 2 * limits.connectionsMax;
  // Of a connection on which nothing moves: without a request so far, or whose client does not read the reply.
  server.timeout = limits.keepAliveTimeout;
  // Node would silently drop headers beyond a number. Their bytes are already bounded.
  server.maxHeadersCount = 0;
  const { clientsOf = (address = '') => [{ key: address, factor: 1 }] } = options;
  const connections = makeConnections<Duplex>({ ...limits, clientsOf });
  /** Node closes neither those without a request so far nor those after CONNECT. */
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    // After CONNECT Node listens to neither, and an error without a listener ends the process.
    socket.on('error', () => socket.destroy());
    socket.on('timeout', () => socket.destroy());
    if (!connections.open(socket)) {
      metrics.connectionRefused('too_many_connections');
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      connections.close(socket);
    });
  });
  const pipelines = makePipelines(options.handler, {
    waitingMax: limits.pipelinedMax,
    onBegin: (socket) => connections.begin(socket),
    onEnd: (socket) => connections.end(socket),
    // Its bytes are read no more, so its end shows late. Until then it takes no place of another connection.
    onLast: (socket) => connections.close(socket),
  });
  server.on('request', pipelines.take);
  // An unknown expectation is no reason to refuse (RFC 9110, 10.1.1: MAY).
  server.on('checkExpectation', pipelines.take);
  server.on('connect', (_request, socket) => {
    pipelines.end(socket, rawErrorReply(405, 'method_not_allowed', 'CONNECT is not supported'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException & UnparsedBytes, socket) => {
    const { reason, status, message } = describeParseError(error);
    // Node measures the time of a first request from the connection on. One that has not begun is not late.
    if (reason === 'timeout' && isUnread(socket)) return;
    metrics.connectionRefused(reason);
    const incomplete = pipelines.incomplete(socket);
    const head = incomplete === null ? headOf(error) : headOfRequest(incomplete);
    const headers = head === null ? {} : options.headersOfErrors?.(head);
    pipelines.end(socket, rawErrorReply(status, 'invalid_request', message, headers));
  });
  server.on('drop', () => metrics.connectionRefused('too_many_connections'));
  await listen(server, options);
  metrics.showConnections(() => connectionsOf(server));
  let closed: Promise<void> | null = null;
  return {
    port: (server.address() as AddressInfo).port,
    /** Stops accepting, lets requests in flight finish within the bound, then ends every connection. It is idempotent. */
    close: () => {
      options.onClosing?.();
      closed ??= closeWithin(server, limits.closeWithin, sockets);
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

function headOfRequest({ url = '', headers }: IncomingMessage): RequestHead {
  return { url, origin: headers.origin };
}

/** Bytes that have arrived and wait for this process count as unread. */
function isUnread(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0;
}

/** A listener that has closed has none, and then the server reports an error. */
function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((error, count) => resolve(error === null ? count : 0));
  });
}

function closeWithin(server: Server, ms: number, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    // Requests may still arrive on kept-alive connections, so the sweep closes idle ones until none is left.
    const closeIdle = (): void => {
      server.closeIdleConnections();
      for (const socket of sockets) if (isUnread(socket)) socket.destroy();
    };
    const sweep = setInterval(closeIdle, 50);
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, ms);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(deadline);
      resolve();
    });
    closeIdle();
  });
}
