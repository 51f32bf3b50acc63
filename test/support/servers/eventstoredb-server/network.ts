import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The network between clients and a server: a TCP proxy on loopback that a test can cut, freeze and close. */
export interface Network {
  readonly port: number;
  /** Breaks every open connection. */
  cut(): void;
  /** Accepts bytes from now on and forwards none, on open and on new connections. */
  freeze(): void;
  thaw(): void;
  /** Breaks every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Accepts connections again on the same port. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

/** The ports of earlier servers: gRPC keeps the back-off of an address for all clients of the process. */
const portsUsed = new Set<number>();

export async function makeNetwork(targetPort: number, host = '127.0.0.1'): Promise<Network> {
  const sockets = new Set<Socket>();
  let frozen = false;
  let server = makeProxy();
  let port = await listen(server, { host, port: 0 });
  while (portsUsed.has(port)) {
    server.close();
    server = makeProxy();
    port = await listen(server, { host, port: 0 });
  }
  portsUsed.add(port);

  return {
    port,
    cut,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    refuse,
    accept: async () => {
      server = makeProxy();
      await listen(server, { host, port });
    },
    close: refuse,
  };

  function makeProxy(): Server {
    return createServer((client) => {
      const upstream = connect(targetPort, '127.0.0.1');
      join(client, upstream);
      join(upstream, client);
      if (frozen) {
        client.pause();
        upstream.pause();
      }
    });
  }

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (bytes) => to.write(bytes));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  async function refuse(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  }
}

async function listen(server: Server, at: { readonly host: string; readonly port: number }): Promise<number> {
  server.listen(at);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
