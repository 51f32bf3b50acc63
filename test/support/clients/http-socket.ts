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
    write: (bytes) => {
      socket.write(bytes);
    },
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
