import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy on loopback that counts the commands that clients send to a MongoDB server. */
export interface CountingProxy {
  readonly port: number;
  /** Returns the count of commands since the start, without those of the driver's upkeep. */
  count(): number;
  /** Returns the counts by name, for messages. */
  byName(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

export async function makeCountingProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<CountingProxy> {
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
    count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
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
