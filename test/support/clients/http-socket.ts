import { connect, type Socket } from 'node:net';

/** The bytes that came back on a separate connection until it was closed. */
export interface RawExchange {
  readonly text: string;
  /** The status codes of the replies in order. */
  readonly statuses: readonly number[];
  readonly tookMs: number;
}

/** A connection whose every byte the test controls. */
export interface RawConnection {
  readonly socket: Socket;
  write(text: string | Uint8Array): void;
  /** Resolves when the received text matches the pattern. */
  received(pattern: RegExp): Promise<string>;
  /** Resolves when the connection is closed by either side. */
  closed(): Promise<RawExchange>;
}

export async function openConnection(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const startedAt = performance.now();
  let text = '';
  const watchers = new Set<() => void>();
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (const watch of watchers) watch();
  });
  socket.on('end', () => socket.end());
  // A server may end a connection with a reset.
  socket.on('error', () => undefined);
  const closed = new Promise<RawExchange>((resolve) => {
    socket.once('close', () => {
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
      resolve({ text, statuses, tookMs: performance.now() - startedAt });
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return {
    socket,
    write: (bytes) => socket.write(bytes),
    received: (pattern) =>
      new Promise((resolve) => {
        const watch = (): void => {
          if (!pattern.test(text)) return;
          watchers.delete(watch);
          resolve(text);
        };
        watchers.add(watch);
        watch();
      }),
    closed: () => closed,
  };
}

/** Sends bytes and waits for the server to close the connection. */
export async function sendRaw(port: number, bytes: string | Uint8Array): Promise<RawExchange> {
  const connection = await openConnection(port);
  connection.write(bytes);
  return connection.closed();
}

const silentMsMax = 600_000;

const closes = ({ headers }: RawReply): boolean => headers.get('connection') === 'close';

/** A client with one connection at a time, kept alive as long as the server keeps it, that can send any bytes. */
interface HttpLane {
  /**
   * Sends a request and waits for its reply. Rejects when the server ends the connection without a reply, or sends
   * nothing for ten minutes.
   * @param options.toHead whether the request is a HEAD
   */
  ask(bytes: Buffer, options?: { readonly toHead?: boolean }): Promise<RawReply>;
  close(): void;
}

/** Makes a client with one connection at a time, kept alive as long as the server keeps it, that can send any bytes. */
export function makeHttpLane(port: number): HttpLane {
  let open: Socket | null = null;
  return {
    ask: async (bytes, { toHead = false } = {}) => {
      const socket = open ?? connect({ port, host: '127.0.0.1', noDelay: true });
      open = null;
      const reply = await exchange(socket, bytes, toHead);
      if (closes(reply)) socket.destroy();
      else open = socket;
      return reply;
    },
    close: () => open?.destroy(),
  };
}

function exchange(socket: Socket, bytes: Buffer, toHead: boolean): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const settle = (): void => {
      clearTimeout(limit);
      socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
      // The next request notices when the connection has ended.
      socket.on('error', () => undefined);
    };
    const fail = (why: string): void => {
      settle();
      socket.destroy();
      reject(new Error(why));
    };
    const limit = setTimeout(() => fail(`no reply within ${silentMsMax} ms`), silentMsMax);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const taken = takeReply(received, { toHead });
      if (taken === null) return;
      settle();
      // The parser refuses a request before it knows that it is a HEAD. It then answers with a body that ends with the
      // connection.
      if (taken.length === received.length || (toHead && closes(taken.reply))) resolve(taken.reply);
      else {
        socket.destroy();
        reject(new Error(`${received.length - taken.length} bytes followed the reply`));
      }
    });
    socket.once('close', () => fail('the connection ended without a reply'));
    // `close` follows.
    socket.on('error', () => undefined);
    socket.write(bytes);
  });
}

/** A reply as it came over a connection. */
export interface RawReply {
  readonly status: number;
  /** Header values by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/**
 * Parses the first complete final reply of the received bytes, and its length in bytes; null while it is incomplete. A
 * body has a Content-Length, as all bodies of this service have. Interim replies (1xx) are skipped.
 * @param options.toHead whether the request was a HEAD, whose reply ends with its headers
 */
export function takeReply(
  received: Buffer,
  { toHead = false }: { readonly toHead?: boolean } = {},
): { readonly reply: RawReply; readonly length: number } | null {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  if (status < 200) {
    const next = takeReply(received.subarray(headEnd + 4), { toHead });
    return next === null ? null : { ...next, length: next.length + headEnd + 4 };
  }
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyLength = toHead || status === 204 || status === 304 ? 0 : Number(headers.get('content-length'));
  const length = headEnd + 4 + bodyLength;
  if (received.length < length) return null;
  return { reply: { status, headers, text: received.toString('utf8', headEnd + 4, length) }, length };
}
