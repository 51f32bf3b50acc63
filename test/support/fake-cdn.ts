import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { cdnCertificates, cdnKey } from './cdn-certificates.js';
import type { FakeStorage } from './fake-storage.js';

/** The domain that its good certificate is for. */
export const cdnHost = 'cdn.example.test';

/** What a CDN does in place of passing on what the bucket answers. */
export type CdnBehaviour = (request: IncomingMessage, response: ServerResponse, passOn: () => void) => void;

export interface FakeCdn {
  readonly port: number;
  /** Paths with queries, as they came. */
  readonly requests: readonly string[];
}

/** A CDN in front of a bucket, over real TLS. @param originPath what it puts before each path */
export async function givenFakeCdn(
  t: ExecutionContext,
  storage: FakeStorage,
  {
    certificate = 'good',
    originPath = '',
    behaviour = (_request, _response, passOn) => {
      passOn();
    },
  }: {
    readonly certificate?: keyof typeof cdnCertificates;
    readonly originPath?: string;
    readonly behaviour?: CdnBehaviour;
  } = {},
): Promise<FakeCdn> {
  const requests: string[] = [];
  const server = createServer({ cert: cdnCertificates[certificate], key: cdnKey }, (incoming, response) => {
    requests.push(incoming.url ?? '');
    behaviour(incoming, response, () => {
      const { method } = incoming;
      const headers = { ...incoming.headers, host: `127.0.0.1:${storage.port}` };
      const path = `${originPath}${incoming.url ?? ''}`;
      const onward = request({ host: '127.0.0.1', port: storage.port, method, path, headers });
      onward.on('response', (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      });
      onward.on('error', () => response.writeHead(502).end());
      incoming.on('error', () => onward.destroy());
      incoming.pipe(onward);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}
