import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { dirname, join, relative } from 'node:path';
import { duplexPair, type Duplex } from 'node:stream';

const closeMsMax = 5_000;
/** The longest path of a socket: sockaddr_un holds 108 bytes with the closing zero (unix(7)). */
export const pathBytesMax = 107;

/** Returns the shorter of the absolute and the relative path: sockaddr_un holds 108 bytes with the zero (unix(7)). */
export function controlSocketPath(dataDirectory: string): string {
  const absolute = join(dataDirectory, 'control.sock');
  const fromHere = relative(process.cwd(), absolute);
  return fromHere.length < absolute.length ? fromHere : absolute;
}

/**
 * Listens for the command line on a socket that this user alone may open. The caller owns the data directory, so an existing
 * socket is of a killed process.
 */
export async function listenForOperators(path: string, handler: RequestListener) {
  if (Buffer.byteLength(path) > pathBytesMax) {
    // The system would cut the path off silently, and the socket would have another path.
    throw Object.assign(new Error(`the path of the control socket is too long: ${path}`), {
      code: 'ENAMETOOLONG',
    });
  }
  // If all stores are servers, no store has made the directory.
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rm(path, { force: true });
  const server = makeServer(handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  return {
    /** Accepts no more requests, waits for running ones (5 s at most), and removes the socket. */
    close: async () => {
      const late = setTimeout(() => server.closeAllConnections(), closeMsMax);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(late);
      await rm(path, { force: true });
    },
  };
}

/** Returns what connects to the handler within this process, for a command line that has opened the stores. */
export function connectWithin(handler: RequestListener): () => Duplex {
  const server = makeServer(handler);
  return () => {
    const [here, there] = duplexPair();
    server.emit('connection', there);
    return here;
  };
}

function makeServer(handler: RequestListener): Server {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 10_000 }, handler);
  server.maxConnections = 32;
  return server;
}
