import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type ControlReply, type ControlRequest, lineBytesMax, requestSchema } from './protocol.js';

export interface ControlServer {
  /** Accepts no more requests, waits for running ones (5 s at most), and removes the socket. */
  close(): Promise<void>;
}

const idleMsMax = 10_000;
const closeMsMax = 5_000;
/** The longest path of a socket: sockaddr_un holds 108 bytes with the closing zero (unix(7)). */
const pathBytesMax = 107;

/**
 * Listens for the command line. The caller owns the data directory, so an existing socket is of a killed process.
 * @param run carries out a request; it turns errors into replies
 */
export async function startControlServer(deps: {
  readonly path: string;
  readonly run: (request: ControlRequest) => Promise<ControlReply>;
}): Promise<ControlServer> {
  const { path, run } = deps;
  const running = new Set<Promise<void>>();
  const sockets = new Set<Socket>();
  if (Buffer.byteLength(path) > pathBytesMax) {
    // The system would cut the path off silently, and the socket would have another path.
    throw Object.assign(new Error(`the path of the control socket is too long: ${path}`), {
      code: 'ENAMETOOLONG',
    });
  }
  // If all stores are servers, no store has made the directory.
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rm(path, { force: true });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Without a listener, the error of a client that disconnects would end the process.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(idleMsMax, () => socket.destroy());
    const work = serve(socket).finally(() => running.delete(work));
    running.add(work);
  });
  server.maxConnections = 32;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);

  return {
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      await Promise.race([Promise.all(running), wait(closeMsMax, undefined, { ref: false })]);
      for (const socket of sockets) socket.destroy();
      await closed;
      await rm(path, { force: true });
    },
  };

  async function serve(socket: Socket): Promise<void> {
    const line = await readLine(socket);
    if (line === null) {
      socket.destroy();
      return;
    }
    // From here on the operation decides about its duration.
    socket.setTimeout(0);
    socket.end(`${JSON.stringify(await reply(line))}\n`);
  }

  function reply(line: string): Promise<ControlReply> {
    let request: ControlRequest;
    try {
      request = requestSchema.parse(JSON.parse(line));
    } catch {
      return Promise.resolve({
        ok: false,
        code: 'invalid_request',
        message: 'the request is not a line of JSON of the right form',
      });
    }
    return run(request);
  }
}

/** Reads the first line. Returns null if the peer closes, or exceeds the limit, before the line is complete. */
export function readLine(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      const end = chunk.indexOf(10);
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      bytes += chunk.length;
      if (end >= 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else if (bytes > lineBytesMax) resolve(null);
    });
    socket.once('close', () => {
      resolve(null);
    });
  });
}
