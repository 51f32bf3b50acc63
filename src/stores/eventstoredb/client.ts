import { readFileSync } from 'node:fs';
import { EventStoreDBClient, type ChannelCredentialOptions, type Credentials } from '@eventstore/db-client';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ConnectionSettings } from './connection-string.js';

/** The call `BatchAppend`: many appends, each with a correlation id. */
export type BatchCall = ReturnType<StreamsClient['batchAppend']>;

/**
 * Version 6.2.1 does not await a reconnection, so a failed discovery is an unhandled rejection and ends the process. Its
 * own batch path has one map for all clients (docs/decisions/event-store.md#0033-one-batch-call). Only a subclass
 * can reach the reconnecting method and the calls.
 */
class ReconnectingClient extends EventStoreDBClient {
  /** Ignores a failed reconnection: the calls that wait for the same discovery fail with its error. */
  guardReconnection(): this {
    const reconnect = this.handleError;
    this.handleError = (...failure) => reconnect(...failure).catch(() => undefined);
    return this;
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

  /** Ends all streams and closes the connection. */
  async shutDown(): Promise<void> {
    await this.dispose();
    (await this.getChannel()).close();
  }
}

export type Client = ReconnectingClient;

/** The client sends nothing before its first call. @throws Error when the authority's certificate cannot be read */
export function makeClient(settings: ConnectionSettings, deadlineMs: number): Client {
  const { endpoints, cluster, credentials, tuning } = settings;
  const shared = { ...tuning, defaultDeadline: deadlineMs, connectionName: 'stowage' };
  const channel: ChannelCredentialOptions = { insecure: !settings.tls };
  if (settings.tls && settings.tlsCAFile !== null) channel.rootCertificate = readFileSync(settings.tlsCAFile);
  const user = credentials ?? undefined;
  const [endpoint] = endpoints;
  const client =
    cluster || endpoint === undefined
      ? new ReconnectingClient({ ...shared, endpoints: [...endpoints] }, channel, user)
      : new ReconnectingClient({ ...shared, endpoint }, channel, user);
  return client.guardReconnection();
}
