import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { ChannelCredentialOptions } from '@eventstore/db-client';
import { discoverEndpoint } from '@eventstore/db-client/dist/Client/discovery.js';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type * as Grpc from '@grpc/grpc-js';
import type { ConnectionSettings, EndPoint } from './connection-string.js';

/** The gRPC of the client, and not another copy in this program. */
const ofClient = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client'));
const { credentials, Metadata } = ofClient('@grpc/grpc-js') as typeof Grpc;
nameNoAddresses();

/** The pause before a silent node is asked again, in milliseconds. */
const pauseMs = 100;

/** Finds the leader of a cluster. */
export type Discovery = ReturnType<typeof makeDiscovery>;

/** @param answerMs how long a silent node may take to answer */
export function makeDiscovery(
  { endpoints, tls, tuning }: Pick<ConnectionSettings, 'endpoints' | 'tls' | 'tuning'>,
  { rootCertificate }: ChannelCredentialOptions,
  answerMs: number,
) {
  const channel = tls ? credentials.createSsl(rootCertificate) : credentials.createInsecure();
  return {
    /** Returns the leader. Waits for an election, or an answer of the silent node, while gossip names that node. */
    beyond: async (silentNode: string, signal: AbortSignal) => {
      const [address = '', port] = silentNode.split(/:(?=\d+$)/);
      const isSilent = (node: EndPoint): boolean => node.address === address && node.port === Number(port);
      // The client would ask the silent node first half of the time, and wait for it for 5 s.
      const seeds = endpoints.filter((node) => !isSilent(node));
      const settings = { ...tuning, gossipTimeout: 1, maxDiscoverAttempts: 1, endpoints: seeds };
      while (!signal.aborted) {
        const answering = answers(silentNode);
        // Without a seed that answers, or a leader, it tries again.
        const found = await discoverEndpoint(settings, channel).catch(() => null);
        if (found !== null && !isSilent(found)) return `${found.address}:${found.port}`;
        if (await answering) break;
        await wait(pauseMs);
      }
      return silentNode;
    },
  };

  function answers(node: string): Promise<boolean> {
    const client = new GossipClient(node, channel, {});
    return new Promise((resolve) => {
      client.read(new shared.Empty(), new Metadata(), { deadline: Date.now() + answerMs }, (error) => {
        client.close();
        resolve(error === null);
      });
    });
  }
}

/**
 * gRPC 1.14 names the host of a server in the TLS handshake also where that is an address, which RFC 6066 (section 3) forbids
 * and Node refuses since version 25. Without a name, Node compares the address with those in the certificate.
 */
function nameNoAddresses(): void {
  type MakeConnector = (...target: unknown[]) => { readonly connectionOptions: { servername: string } };
  const secure = Object.getPrototypeOf(credentials.createSsl()) as { _createSecureConnector: MakeConnector };
  const connectorOf = secure._createSecureConnector;
  secure._createSecureConnector = function (this: unknown, ...target) {
    const connector = connectorOf.apply(this, target);
    const { connectionOptions } = connector;
    if (isIP(connectionOptions.servername) !== 0) connectionOptions.servername = '';
    return connector;
  };
}
