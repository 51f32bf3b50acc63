/** What the registry needs of a socket. */
export interface OpenSocket {
  readonly remoteAddress?: string | undefined;
  destroy(): unknown;
}

/** The key of a client, and how many times the limit of one client it may hold. */
export type ClientKey = { readonly key: string; readonly factor: number };

interface Connection<Socket> {
  readonly socket: Socket;
  readonly clients: readonly ClientKey[];
  requests: number;
}

/**
 * Makes the open connections of a listener, by client: src/http/README.md#connections.
 * @param clientsOf the keys of an address, its own first; an infinite factor for one without a limit
 */
export function makeConnections<Socket extends OpenSocket>(deps: {
  readonly connectionsMax: number;
  readonly connectionsPerClientMax: number;
  readonly clientsOf: (address: string | undefined) => readonly ClientKey[];
}) {
  const { connectionsMax, connectionsPerClientMax, clientsOf } = deps;
  const all = new Map<Socket, Connection<Socket>>();
  /** By key. A set iterates in the order of the last request, so the first idle connection is the longest idle one. */
  const byClient = new Map<string, Set<Connection<Socket>>>();
  return {
    /** Registers a connection. It may close an idle one for it. Returns false, and registers nothing, without room. */
    open: (socket: Socket): boolean => {
      const clients = clientsOf(socket.remoteAddress);
      if (!clients.every(isWithinLimit) || !hasRoom(clients)) return false;
      const connection = { socket, clients, requests: 0 };
      all.set(socket, connection);
      for (const { key } of clients) heldBy(key).add(connection);
      return true;
    },
    /** Counts a request that the service answers; such a connection is not idle. */
    begin: (socket: Socket) => {
      const connection = all.get(socket);
      if (connection !== undefined) connection.requests += 1;
    },
    end: (socket: Socket) => {
      const connection = all.get(socket);
      if (connection === undefined) return;
      connection.requests -= 1;
      for (const { key } of connection.clients) {
        const held = heldBy(key);
        held.delete(connection);
        held.add(connection);
      }
    },
    close: forget,
  };

  /** Makes room under the limit of a client. Its longest idle connection ends for the new one. */
  function isWithinLimit({ key, factor }: ClientKey): boolean {
    const held = byClient.get(key);
    if (held === undefined || held.size < connectionsPerClientMax * factor) return true;
    return endIdle(held);
  }

  /** Makes room under the limit of all. A client never takes it from one that holds fewer connections. */
  function hasRoom([own]: readonly ClientKey[]): boolean {
    if (all.size < connectionsMax) return true;
    const ownCount = own === undefined ? 0 : (byClient.get(own.key)?.size ?? 0);
    const owners = new Set([...all.values()].map(({ clients }) => clients[0]?.key ?? ''));
    return [...owners]
      .map((key) => heldBy(key))
      .filter((held) => held.size >= ownCount)
      .sort((one, other) => other.size - one.size)
      .some(endIdle);
  }

  function endIdle(held: ReadonlySet<Connection<Socket>>): boolean {
    for (const { socket, requests } of held) {
      if (requests > 0) continue;
      forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  function forget(socket: Socket): void {
    const connection = all.get(socket);
    if (connection === undefined) return;
    all.delete(socket);
    for (const { key } of connection.clients) {
      const held = heldBy(key);
      held.delete(connection);
      if (held.size === 0) byClient.delete(key);
    }
  }

  function heldBy(key: string): Set<Connection<Socket>> {
    const held = byClient.get(key) ?? new Set();
    byClient.set(key, held);
    return held;
  }
}
