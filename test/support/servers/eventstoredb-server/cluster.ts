import { makeServerLog, type ServerLog } from './log.js';
import { startEventStoreDbServer, type EventStoreDbServer, type StartOptions } from './server.js';

/** Nodes that share a log and name each other by gossip. The first one leads until another one is elected. */
interface Cluster {
  readonly log: ServerLog;
  readonly nodes: readonly EventStoreDbServer[];
  readonly leader: () => EventStoreDbServer;
  /** The node after the leader leads from now on. */
  readonly elect: () => void;
  /** The leader is gone: it refuses connections, and the next node leads. */
  readonly failLeader: () => Promise<void>;
  /** Returns a connection string that names the nodes, without TLS. */
  readonly url: () => string;
  readonly close: () => Promise<void>;
}

export interface ClusterOptions extends Partial<Omit<StartOptions, 'log' | 'members' | 'leader'>> {
  /** The name of each node in gossip. */
  readonly hosts?: readonly string[];
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { hosts = ['127.0.0.1', '127.0.0.1'], ...start } = options;
  const log = makeServerLog();
  const gone = new Set<number>();
  let nodes: readonly EventStoreDbServer[] = [];
  let leads = 0;
  const members = () =>
    nodes.map(({ port }, node) => ({
      host: hosts[node] ?? '',
      port,
      state: node === leads ? ('leader' as const) : ('follower' as const),
      alive: !gone.has(node),
    }));
  nodes = await Promise.all(
    hosts.map((_host, node) =>
      startEventStoreDbServer({
        ...start,
        log,
        members,
        leader: () => (leads === node ? null : (members()[leads] ?? null)),
      }),
    ),
  );
  const leader = (): EventStoreDbServer => nodes[leads] as EventStoreDbServer;
  const elect = (): void => {
    leads = (leads + 1) % nodes.length;
  };
  return {
    log,
    nodes,
    leader,
    elect,
    failLeader: () => {
      const failed = leader();
      gone.add(leads);
      elect();
      return failed.network.refuse();
    },
    url: () =>
      `esdb://${nodes.map(({ port }, node) => `${hosts[node] ?? ''}:${port}`).join()}?tls=false&discoveryInterval=10`,
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}
