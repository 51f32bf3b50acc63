import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  makeBatchAppend,
  makeGossip,
  makeServerFeatures,
  type Member,
} from './append-and-cluster-services.js';
import type { LiveSubscription, ServerContext, ServerOptions } from './context.js';
import { makeFaults, type Faults } from './faults.js';
import { makeServerLog, type ServerLog, type ProposedEvent } from './log.js';
import { makeNetwork, type Network } from './network.js';
import { makeRead } from './read-service.js';
import type { ExecutionContext } from 'ava';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import {
  type EventStoreDbOptions,
  openEventStoreDb,
} from '../../../../src/stores/eventstoredb/event-store.js';
import { makeSeededRandom, realClock } from '../../fakes/clock.js';
import { randomUUID } from 'node:crypto';
import type { EventStoreDbLimits } from '../../../../src/stores/eventstoredb/calls/limits.js';
import { makeTcpProxy } from '../proxies.js';

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
    cut: () => network.cut(),
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

/** A time limit in milliseconds that a test can wait for, and that healthy calls meet on a busy machine. */
export const callMs = 500;

/** The milliseconds that a call may exceed its limit before a test fails, because the machine may be busy. */
export const slackMs = 3_000;

/** Starts a server and an adapter on it; both close after the test. */
export async function givenServer(
  t: ExecutionContext,
  start: StartOptions = {},
  options: Partial<EventStoreDbOptions> = {},
): Promise<{ readonly server: EventStoreDbServer; readonly store: EventStore }> {
  const server = await startEventStoreDbServer(start);
  const store = openTestStore(server.url, options);
  t.teardown(async () => {
    await store.close();
    await server.close();
  });
  return { server, store };
}

/** What a busy machine does not exceed. A test of a limit has its own. */
const ampleLimits = { callMs: 60_000, permitMs: 60_000 };

/** Opens an adapter for a test, with the real clock, seeded waits and the options that the test overrides. */
export function openTestStore(url: string, options: Partial<EventStoreDbOptions> = {}): EventStore {
  return openEventStoreDb({
    url,
    streamPrefix: 'test.',
    clock: realClock,
    random: makeSeededRandom(1),
    ...options,
    limits: { ...ampleLimits, ...options.limits },
  });
}

/** Makes an event as another application might write it, without the adapter. */
export function makeProposed(overrides: {
  readonly type?: string;
  readonly contentType?: string;
  readonly data?: string;
  readonly metadata?: string;
}): ProposedEvent {
  return {
    id: randomUUID(),
    type: overrides.type ?? 'ElsewhereHappened',
    contentType: overrides.contentType ?? 'application/json',
    data: Buffer.from(overrides.data ?? '{}'),
    metadata: Buffer.from(overrides.metadata ?? ''),
  };
}

/** Starts a server with `count` events of `bytes` in one stream, and an adapter that reaches it over a slow link. */
export async function givenSlowLink(
  t: ExecutionContext,
  log: { readonly count: number; readonly bytes: number },
  { bytesPerSecond, ...limits }: Partial<EventStoreDbLimits> & { readonly bytesPerSecond: number },
) {
  const server = await startEventStoreDbServer();
  /** The stream that holds all events of the log. */
  const stream = 'thing-large';
  const data = JSON.stringify({ text: 'x'.repeat(log.bytes) });
  const metadata = JSON.stringify({
    ...{ command_id: 'c', causation_id: 'a', correlation_id: 'b' },
    ...{ actor: 'system:test', time: '2026-01-02T03:04:05.000Z' },
  });
  for (let index = 0; index < log.count; index += 1) {
    server.log.append(`test.${stream}`, 'any', [makeProposed({ type: 'ThingHappened@1', data, metadata })]);
  }
  const proxy = await makeTcpProxy({ host: '127.0.0.1', port: server.port });
  proxy.bytesPerSecond = bytesPerSecond;
  const store = openTestStore(`esdb://127.0.0.1:${proxy.port}?tls=false`, { limits });
  t.teardown(async () => {
    await store.close();
    await proxy.close();
    await server.close();
  });
  return { store, stream };
}

/** Follows the log from its begin until `count` events have come. Returns the largest number of events in a page. */
export async function catchUp(store: EventStore, count: number): Promise<number> {
  const reading = new AbortController();
  let [passed, largest] = [0, 0];
  for await (const { events } of store.subscribe({ after: null, signal: reading.signal })) {
    passed += events.length;
    largest = Math.max(largest, events.length);
    if (passed >= count) reading.abort();
  }
  return largest;
}
