import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * What happens to a request: it passes; it is lost with its connection before or after the server has it; its
 * connection falls silent before or after the server has it; or it reaches the server late, its sender being gone.
 */
export type Fate = 'pass' | 'lose-request' | 'lose-reply' | 'hold-request' | 'hold-reply' | 'late-request';

/** A proxy on loopback between a client and a server, whose faults a test controls. */
export interface TcpProxy {
  readonly port: number;
  /** Decides the fate of each request; called with the bytes of one chunk of the client's. */
  decide: (request: Buffer) => Fate;
  /** Added before each chunk is passed on, in milliseconds. */
  delayMs: number;
  /** While true, new connections are reset at once. */
  refusing: boolean;
  /** From now on nothing passes in either direction, on connections old and new; `thaw` lets what is kept go on. */
  freeze: () => void;
  thaw: () => void;
  /** Ends all connections: in good order, or by a reset (RST). */
  cut: () => void;
  reset: () => void;
  /** Hands over the late requests. */
  deliverLate: () => void;
  close: () => Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Replies pass, or end the connection, or are dropped. */
  replies: 'pass' | 'lose' | 'hold';
  late: Buffer | undefined;
}

export async function makeTcpProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<TcpProxy> {
  const links = new Set<Link>();
  const late = new Set<Link>();
  let frozen = false;
  let thawed = () => {};
  let untilThawed = Promise.resolve();

  const listener = createServer((client) => {
    if (proxy.refusing) {
      client.resetAndDestroy();
      return;
    }
    const link: Link = { client, server: connect(target), replies: 'pass', late: undefined };
    links.add(link);
    for (const socket of [link.client, link.server]) {
      // What a test breaks on purpose is no error of the proxy's.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        links.delete(link);
        link.client.destroy();
        if (link.late === undefined) link.server.destroy();
      });
      socket.setNoDelay(true);
    }
    void forward(link.client, (chunk) => {
      request(link, chunk);
    });
    void forward(link.server, (chunk) => {
      reply(link, chunk);
    });
  });

  /** One chunk after another, each after its delay; a frozen proxy reads nothing on. */
  async function forward(from: Socket, pass: (chunk: Buffer) => void): Promise<void> {
    try {
      for await (const chunk of from) {
        if (proxy.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, proxy.delayMs));
        while (frozen) await untilThawed;
        if (Buffer.isBuffer(chunk)) pass(chunk);
      }
    } catch {
      from.destroy();
    }
  }

  function request(link: Link, chunk: Buffer): void {
    if (link.replies === 'hold') return;
    const fate = proxy.decide(chunk);
    if (fate === 'lose-request') {
      link.client.resetAndDestroy();
      return;
    }
    if (fate === 'lose-reply') link.replies = 'lose';
    if (fate === 'late-request') {
      link.late = chunk;
      late.add(link);
    }
    if (fate === 'hold-reply' || fate === 'hold-request' || fate === 'late-request') link.replies = 'hold';
    if (fate !== 'hold-request' && fate !== 'late-request') link.server.write(chunk);
  }

  function reply(link: Link, chunk: Buffer): void {
    if (link.replies === 'lose') link.client.resetAndDestroy();
    else if (link.replies === 'pass') link.client.write(chunk);
  }

  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const proxy: TcpProxy = {
    port: portOf(listener.address()),
    decide: () => 'pass',
    delayMs: 0,
    refusing: false,
    freeze: () => {
      if (frozen) return;
      frozen = true;
      untilThawed = new Promise((resolve) => {
        thawed = resolve;
      });
    },
    thaw: () => {
      frozen = false;
      thawed();
    },
    cut: () => {
      for (const { client } of links) client.end();
    },
    reset: () => {
      for (const { client } of links) client.resetAndDestroy();
    },
    deliverLate: () => {
      for (const link of late) {
        if (link.late !== undefined) link.server.end(link.late);
        link.late = undefined;
      }
      late.clear();
    },
    close: async () => {
      const closed = once(listener, 'close');
      listener.close();
      proxy.thaw();
      proxy.reset();
      for (const { server } of late) server.destroy();
      await closed;
    },
  };
  return proxy;
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');
  return address.port;
}
