import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Nodes on the addresses of loopback, and what they see of a prober. Linux has all addresses of 127.0.0.0/8. */
export interface ProbedNodes {
  readonly port: number;
  /** The times of the probes in ms, by address. */
  readonly seen: ReadonlyMap<string, readonly number[]>;
  /** Returns the connections to the nodes that processes of this machine hold now, as the kernel lists them. */
  openConnections(): Promise<number>;
  readonly close: () => Promise<void>;
}

/** States of proc(5), `/proc/net/tcp`: ESTABLISHED, SYN_SENT and CLOSE_WAIT belong to a socket that a process holds. */
const held = new Set(['01', '02', '08']);

/** Starts nodes that answer every `GET` after some time. */
export async function startProbedNodes(answerMs: number): Promise<ProbedNodes> {
  const seen = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const address = request.socket.localAddress ?? '';
    seen.set(address, [...(seen.get(address) ?? []), performance.now()]);
    void wait(answerMs).then(() => response.end());
  }).listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return {
    port,
    seen,
    openConnections: async () => {
      const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1);
      const fields = lines.map((line) => line.trim().split(/\s+/));
      return fields.filter(([, , remote = '', state = '']) => remote.endsWith(suffix) && held.has(state))
        .length;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
