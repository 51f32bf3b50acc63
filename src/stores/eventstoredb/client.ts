import { readFileSync } from 'node:fs';
import { EventStoreDBClient, type ChannelCredentialOptions, type Credentials } from '@eventstore/db-client';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ConnectionSettings } from './connection-string.js';
import { makeDiscovery, type Discovery } from './discovery.js';

/** The call `BatchAppend`: many appends, each with a correlation id. */
export type BatchCall = ReturnType<StreamsClient['batchAppend']>;

/** Has the code with which gRPC reports a lost connection: the client then discovers the leader again. */
const silence = Object.assign(new Error('the node is silent'), { code: 14, details: '' });

/**
 * Version 6.2.1 does not await a reconnection, so a failed discovery is an unhandled rejection and ends the process. Its
 * own batch path has one map for all clients (docs/decisions/event-store.md#0033-one-batch-call). It notices a node that
 * accepts bytes and answers none only after two keep-alives. Only a subclass can reach the reconnecting methods and the calls.
 */
class ReconnectingClient extends EventStoreDBClient {
  /** Called after a connection was dropped. Its streams go on without an answer: gRPC ends none of them. */
  onSilence = (): void => undefined;
  /** Called once a connection with the version that the server names. */
  onVersion = (_version: string): void => undefined;
  /** Counts what nodes have sent. */
  private answers = 0;
  /** Counts connections to nodes. */
  private connections = 0;
  /** The connection whose server was asked for its version. */
  private named = 0;
  private node = '';
  /** The node that was left, until another one sends something: a follower may still name it as the leader. */
  private silentNode: string | null = null;
  private readonly closing = new AbortController();

  /**
   * Ignores a failed reconnection: the calls that wait for the same discovery fail with its error.
   * @param discovery null for a single node
   */
  guardReconnection(discovery: Discovery | null): this {
    const reconnect = this.handleError;
    this.handleError = async (client, error) => {
      await reconnect(client, error).catch(() => undefined);
      if (error === silence) this.onSilence();
    };
    const resolve = this.resolveUri;
    this.resolveUri = async () => {
      const { silentNode } = this;
      const isLeft = silentNode !== null && discovery !== null;
      this.node = await (isLeft ? discovery.beyond(silentNode, this.closing.signal) : resolve());
      // Otherwise a channel that no call waits for would connect again and again after the end.
      this.closing.signal.throwIfAborted();
      this.connections += 1;
      return this.node;
    };
    return this;
  }

  /** Notes that a node has sent something. */
  heard(): void {
    this.answers += 1;
    this.silentNode = null;
    if (this.named === this.connections) return;
    // Another node may have another version, during an upgrade of the cluster.
    this.named = this.connections;
    this.capabilities.then(
      ({ serverVersion }) => this.onVersion(serverVersion),
      () => undefined,
    );
  }

  /**
   * Begins a call. Returns the function that reports that its time has passed. If no node has sent anything in that time, the
   * connection is dropped and the leader is discovered again: it may be frozen, or behind a network that loses all.
   */
  watchForSilence(): () => void {
    const { answers, connections } = this;
    return () => {
      // A connection that cannot be opened has no call to end, and the next call opens one.
      if (this.answers === answers) this.leave(connections).catch(() => undefined);
    };
  }

  /**
   * Opens a `BatchAppend` call that ends only with its connection. A loss makes the client reconnect, as its own calls do.
   * @param listen attaches the listeners in the same tick, because an error event without a listener ends the process
   */
  openBatchCall(credentials: Credentials, listen: (call: BatchCall) => void): Promise<BatchCall> {
    return this.GRPCStreamCreator<StreamsClient, BatchCall>(StreamsClient, 'appendToStream', (client) => {
      const [metadata, options] = this.callArguments(
        { credentials, requiresLeader: true },
        { deadline: Infinity },
      );
      const call = client.batchAppend(metadata, options);
      listen(call);
      return call;
    })();
  }

  /** Ends all streams and closes the connection. @throws AbortError where there was none */
  async shutDown(): Promise<void> {
    this.closing.abort();
    await this.dispose();
    (await this.getChannel()).close();
  }

  private leave(connections: number): Promise<void> {
    return this.execute(StreamsClient, 'leave', () => {
      // Another call has left the connection before.
      if (connections !== this.connections) return Promise.resolve();
      this.silentNode = this.node;
      return Promise.reject(silence);
    });
  }
}

export type Client = ReconnectingClient;

/** The client sends nothing before its first call. @throws Error when the authority's certificate cannot be read */
export function makeClient(settings: ConnectionSettings, deadlineMs: number): Client {
  const { endpoints, cluster, credentials, tuning } = settings;
  // The client waits for 5 s for each silent node that it asks for the leader.
  const shared = { gossipTimeout: 2, ...tuning, defaultDeadline: deadlineMs, connectionName: 'stowage' };
  const channel: ChannelCredentialOptions = { insecure: !settings.tls };
  if (settings.tls && settings.tlsCAFile !== null) channel.rootCertificate = readFileSync(settings.tlsCAFile);
  const user = credentials ?? undefined;
  const [endpoint] = endpoints;
  if (!cluster && endpoint !== undefined)
    return new ReconnectingClient({ ...shared, endpoint }, channel, user).guardReconnection(null);
  const client = new ReconnectingClient({ ...shared, endpoints: [...endpoints] }, channel, user);
  return client.guardReconnection(makeDiscovery(settings, channel, deadlineMs / 5));
}
