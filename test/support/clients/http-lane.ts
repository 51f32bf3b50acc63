import { connect, type Socket } from 'node:net';
import { takeReply, type RawReply } from './http-replies.js';

/** A client with one connection at a time, kept alive as long as the server keeps it, that can send any bytes. */
export interface HttpLane {
  /**
   * Sends a request and waits for its reply. Rejects when the server ends the connection without a reply, or sends
   * nothing for ten minutes.
   * @param options.toHead whether the request is a HEAD
   */
  ask(bytes: Buffer, options?: { readonly toHead?: boolean }): Promise<RawReply>;
  close(): void;
}

const silentMsMax = 600_000;

const closes = ({ headers }: RawReply): boolean => headers.get('connection') === 'close';

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
    const limit = setTimeout(() => {
      fail(`no reply within ${silentMsMax} ms`);
    }, silentMsMax);
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
    socket.once('close', () => {
      fail('the connection ended without a reply');
    });
    // `close` follows.
    socket.on('error', () => undefined);
    socket.write(bytes);
  });
}
