import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { addNode } from '../clients/service-client.js';
import type { ServiceProcess } from './service-process.js';

/** Nodes on the addresses of loopback, and what they see of a prober. Linux has all addresses of 127.0.0.0/8. */
type ProbedNodes = Awaited<ReturnType<typeof startProbedNodes>>;

/** States of proc(5), `/proc/net/tcp`: ESTABLISHED, SYN_SENT and CLOSE_WAIT belong to a socket that a process holds. */
const held = new Set(['01', '02', '08']);

/** Starts nodes that answer every `GET` after some time. */
export async function startProbedNodes(answerMs: number) {
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
    /** The times of the probes in ms, by address. */
    seen,
    /** Returns the connections to the nodes that processes of this machine hold now, as the kernel lists them. */
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

const addedAtOnce = 4;
const intervalMs = 10_000;
const sampleMs = 20;

/** How many nodes there are, and for how many intervals their probes are watched. */
interface ProbeExtent {
  readonly nodes: number;
  readonly intervals: number;
}

export const wholeExtent: ProbeExtent = { nodes: 1_000, intervals: 6 };

/** Adds nodes on the addresses of loopback. */
export async function addNodes(directory: string, { nodes }: ProbeExtent): Promise<void> {
  const addresses = Array.from(
    { length: nodes },
    (_, index) => `127.0.${1 + Math.floor(index / 250)}.${1 + (index % 250)}`,
  );
  while (addresses.length > 0) {
    const some = addresses.splice(0, addedAtOnce);
    await Promise.all(some.map((address) => addNode(directory, `edge-${address}`, address)));
  }
}

/**
 * Watches that each node is probed about once in 10 s, over 50 connections at most. Then stops the processes.
 * The times depend on the load of the machine, so the test logs them; test/areas/nodes/prober has the interval on a simulated clock.
 */
export async function watchProbes(
  t: ExecutionContext,
  nodes: ProbedNodes,
  services: readonly ServiceProcess[],
  extent: ProbeExtent,
): Promise<void> {
  // Given probes of all nodes
  while (nodes.seen.size < extent.nodes) await wait(100);
  // When the intervals pass
  const beganMs = performance.now();
  const watchMs = extent.intervals * intervalMs;
  let connectionsMax = 0;
  while (performance.now() - beganMs < watchMs) {
    // The kernel's list is no snapshot: a reading may contain a connection and the one that has taken its place.
    const readings = [await nodes.openConnections(), await nodes.openConnections()];
    connectionsMax = Math.max(connectionsMax, Math.min(...readings));
    await wait(sampleMs);
  }
  // Then
  const gaps = [...nodes.seen.values()].flatMap((times) => {
    const watched = times.filter((time) => time >= beganMs);
    const isInTime = Math.abs(watched.length - extent.intervals) <= 1;
    t.true(isInTime, `a node has ${watched.length} probes in ${extent.intervals} intervals`);
    return watched.slice(1).map((time, index) => time - (watched[index] ?? 0));
  });
  const [shortest, longest] = [Math.min(...gaps), Math.max(...gaps)].map(Math.round);
  t.log(`${gaps.length} intervals of ${shortest} to ${longest} ms, ${connectionsMax} connections at most`);
  t.true(connectionsMax > 15, 'the nodes are slow enough to show the limit');
  t.true(connectionsMax <= 50, `${connectionsMax} connections`);
  for (const code of await Promise.all(services.map((service) => service.stop()))) t.is(code, 0);
  t.is(await nodes.openConnections(), 0);
}
