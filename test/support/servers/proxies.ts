import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * The fate of a request. It passes. Or its connection is reset before (`lose-request`) or after (`lose-reply`) the
 * server has received it. Or its connection becomes silent before (`hold-request`) or after (`hold-reply`) that. Or it
 * reaches the server late, after its sender has gone (`late-request`).
 */
export type Fate = 'pass' | 'lose-request' | 'lose-reply' | 'hold-request' | 'hold-reply' | 'late-request';

/** A proxy on loopback between a client and a server; a test controls its faults. */
export interface TcpProxy {
  readonly port: number;
  /** Decides the fate of each request. The argument is one chunk of the client's bytes. */
  decide: (request: Buffer) => Fate;
  /** The delay before each chunk is forwarded, in milliseconds. */
  delayMs: number;
  /** The delay before the first bytes of a new connection, for the handshake of a distant server. */
  connectMs: number;
  /** The bytes that each direction of a connection forwards in a second; 0 for no bound. */
  bytesPerSecond: number;
  /** While true, the proxy resets new connections at once. */
  refusing: boolean;
  /** Forwards nothing in either direction from now on, on old and new connections; `thaw` forwards the kept bytes. */
  freeze: () => void;
  thaw: () => void;
  /** Ends all connections: `cut` in good order, `reset` by a reset (RST). */
  cut: () => void;
  reset: () => void;
  /** Sends the late requests to the server. */
  deliverLate: () => void;
  close: () => Promise<void>;
}

/** How a server goes away, and how it comes back. */
type Outage = readonly [leave: (proxy: TcpProxy) => void, comeBack: (proxy: TcpProxy) => void];

export const refusedConnections: Outage = [
  (proxy) => {
    proxy.refusing = true;
    proxy.reset();
  },
  (proxy) => {
    proxy.refusing = false;
  },
];

export const noAnswers: Outage = [(proxy) => proxy.freeze(), (proxy) => proxy.thaw()];

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Replies are forwarded, end the connection, or are dropped. */
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
      // The proxy ignores errors, because tests break connections on purpose.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        links.delete(link);
        link.client.destroy();
        if (link.late === undefined) link.server.destroy();
      });
      socket.setNoDelay(true);
    }
    void forward(link.client, proxy.connectMs, (chunk) => request(link, chunk));
    void forward(link.server, 0, (chunk) => reply(link, chunk));
  });

  /** Forwards one chunk after another, each after its delay. A frozen proxy stops reading. */
  async function forward(from: Socket, firstMs: number, pass: (chunk: Buffer) => void): Promise<void> {
    let extraMs = firstMs;
    try {
      for await (const chunk of from) {
        const bytes = Buffer.isBuffer(chunk) ? chunk.length : 0;
        const slowMs = proxy.bytesPerSecond > 0 ? (1_000 * bytes) / proxy.bytesPerSecond : 0;
        const waitMs = Math.max(proxy.delayMs, slowMs) + extraMs;
        extraMs = 0;
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
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
    connectMs: 0,
    bytesPerSecond: 0,
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

/** Makes a proxy on loopback that counts the commands that clients send to a MongoDB server. */
export async function makeCountingProxy(target: { readonly host: string; readonly port: number }) {
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const server = connect(target);
    const readNames = makeReadNames();
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
    client.on('data', (bytes: Buffer) => {
      for (const name of readNames(bytes)) counts.set(name, (counts.get(name) ?? 0) + 1);
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    /** Returns the count of commands since the start, without those of the driver's upkeep. */
    count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    /** Returns the counts by name, for messages. */
    byName: () => Object.fromEntries(counts),
    close: async () => {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Messages of the driver's monitoring and of its end, which are no work of the service. */
const upkeep = new Set(['hello', 'ismaster', 'isMaster', 'endSessions']);
const opMsg = 2013;

/**
 * Makes the reader of one connection, whose bytes come in pieces of any size. It returns the names of the commands.
 * Source: MongoDB wire protocol, OP_MSG: header of 16 bytes, flags, section kind 0, BSON document.
 */
function makeReadNames(): (bytes: Buffer) => readonly string[] {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const names: string[] = [];
    while (rest.length >= 16 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      // The name of the command is the name of the document's first field: after flags (4), kind (1), size (4), type (1).
      const nameAt = 16 + 4 + 1 + 4 + 1;
      const name = rest.subarray(nameAt, rest.indexOf(0, nameAt)).toString('utf8');
      if (rest.readInt32LE(12) === opMsg && !upkeep.has(name)) names.push(name);
      rest = rest.subarray(length);
    }
    return names;
  };
}
