import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { makeAppend } from './append-service.js';
import { makeBatchAppend } from './batch-append-service.js';
import { makeGossip, makeServerFeatures, type Member } from './cluster-services.js';
import type { LiveSubscription, ServerContext, ServerOptions } from './context.js';
import { makeFaults, type Faults } from './faults.js';
import { makeServerLog, type ServerLog } from './log.js';
import { makeNetwork, type Network } from './network.js';
import { makeRead } from './read-service.js';

/** A node that speaks EventStoreDB's protocol, with its log in memory and its faults in the test's hands. */
export interface EventStoreDbServer {
  /** A connection string for exactly this node. */
  readonly url: string;
  readonly port: number;
  readonly log: ServerLog;
  readonly faults: Faults;
  readonly network: Network;
  /** The subscriptions that are open now. */
  readonly subscriptions: ReadonlySet<LiveSubscription>;
  close(): Promise<void>;
}

export interface StartOptions extends Partial<ServerOptions> {
  /** Given to several nodes, it makes them a cluster. */
  readonly log?: ServerLog;
  /** What gossip tells; asked anew each time. Default: this node leads alone. */
  readonly members?: () => readonly Member[];
  /** PEM; with it the node speaks TLS. */
  readonly tls?: { readonly certificate: Buffer; readonly key: Buffer };
}

export async function startEventStoreDbServer(start: StartOptions = {}): Promise<EventStoreDbServer> {
  const { log = makeServerLog(), members = () => [self()], tls, ...options } = start;
  const faults = makeFaults();
  const subscriptions = new Set<LiveSubscription>();
  const timers = new Set<NodeJS.Timeout>();
  const context: ServerContext = {
    log,
    faults,
    subscriptions,
    options: {
      leader: () => null,
      credentials: null,
      streamReadPositions: true,
      liveBufferMax: 32,
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
    append: makeAppend(context),
    batchAppend: makeBatchAppend(context),
  });
  server.addService(ServerFeaturesService, { getSupportedMethods: makeServerFeatures(context) });
  server.addService(GossipService, { read: makeGossip(context, members) });
  const network = await makeNetwork(await bind(server, tls));

  return {
    url: `esdb://127.0.0.1:${network.port}${tls === undefined ? '?tls=false' : ''}`,
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
    return { host: '127.0.0.1', port: network.port, state: 'leader', alive: true };
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
