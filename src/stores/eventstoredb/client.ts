import { readFileSync } from 'node:fs';
import { EventStoreDBClient, type ChannelCredentialOptions } from '@eventstore/db-client';
import type { ConnectionSettings } from './connection-string.js';

/**
 * The client with its reconnection made safe. 6.2.1 starts a reconnection in a promise that it does not await; when
 * the cluster cannot be discovered at that moment, the promise rejects, and an unhandled rejection ends the process
 * (docs/decisions/0003). A subclass, because that is where the client lets its reconnection be reached.
 */
class ReconnectingClient extends EventStoreDBClient {
  /** The failure needs no handling here: the calls that wait for the same discovery fail with it, and are told. */
  guardReconnection(): this {
    const reconnect = this.handleError;
    this.handleError = (...failure) => reconnect(...failure).catch(() => undefined);
    return this;
  }

  /** Ends all streams and the connection. */
  async shutDown(): Promise<void> {
    await this.dispose();
    (await this.getChannel()).close();
  }
}

export type Client = ReconnectingClient;

/**
 * Makes the client of a connection. Nothing is sent before the first call.
 * @throws Error when the file with the certificate of the authority cannot be read
 */
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
