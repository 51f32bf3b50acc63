import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { makeBatchAppend } from './batch-append-service.js';
import { makeGossip, makeServerFeatures, type Member } from './cluster-services.js';
import type { LiveSubscription, ServerContext, ServerOptions } from './context.js';
import { makeFaults, type Faults } from './faults.js';
import { makeServerLog, type ServerLog } from './log.js';
import { makeNetwork, type Network } from './network.js';
import { makeRead } from './read-service.js';

/** A node that speaks EventStoreDB's protocol, with its log in memory and with faults that a test controls. */
export interface EventStoreDbServer {
  /** A connection string for this node only. */
  readonly url: string;
  readonly port: number;
  readonly log: ServerLog;
  readonly faults: Faults;
  readonly network: Network;
  /** The open subscriptions. */
  readonly subscriptions: ReadonlySet<LiveSubscription>;
  close(): Promise<void>;
}

export interface StartOptions extends Partial<ServerOptions> {
  /** The log of the node. Several nodes with the same log are a cluster. */
  readonly log?: ServerLog;
  /** Returns the members that gossip reports; called for each request. Default: this node leads alone. */
  readonly members?: () => readonly Member[];
  /** The address at which clients reach the node; 127.0.0.1 when left out. */
  readonly host?: string;
  /** A certificate and a key in PEM. With them the node speaks TLS. */
  readonly tls?: { readonly certificate: Buffer; readonly key: Buffer };
}

export async function startEventStoreDbServer(start: StartOptions = {}): Promise<EventStoreDbServer> {
  const { log = makeServerLog(), members = () => [self()], host = '127.0.0.1', tls, ...options } = start;
  const faults = makeFaults();
  const subscriptions = new Set<LiveSubscription>();
  const timers = new Set<NodeJS.Timeout>();
  const context: ServerContext = {
    log,
    faults,
    subscriptions,
    indexing: new Set(),
    options: {
      leader: () => null,
      credentials: null,
      streamReadPositions: true,
      liveBufferMax: 32,
      version: '24.10.4',
      insideRecord: '21.10',
      indexingMs: 1,
      commitTimeoutMs: 2_000,
      onDroppedAnswered: () => undefined,
      ...options,
    },
    self,
    cut: () => {
      network.cut();
    },
    later: (ms, action) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        action();
      }, ms);
      timers.add(timer);
    },
  };
  const server = new Server();
  server.addService(StreamsService, {
    read: makeRead(context),
    batchAppend: makeBatchAppend(context),
  });
  server.addService(ServerFeaturesService, { getSupportedMethods: makeServerFeatures(context) });
  server.addService(GossipService, { read: makeGossip(context, members) });
  const network = await makeNetwork(await bind(server, tls), host);

  return {
    url: `esdb://${host}:${network.port}${tls === undefined ? '?tls=false' : ''}`,
    port: network.port,
    log,
    faults,
    network,
    subscriptions,
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
      await network.close();
      server.forceShutdown();
    },
  };

  function self(): Member {
    return { host, port: network.port, state: 'leader', alive: true };
  }
}

function bind(server: Server, tls: StartOptions['tls']): Promise<number> {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: tls.certificate, private_key: tls.key }]);
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}
