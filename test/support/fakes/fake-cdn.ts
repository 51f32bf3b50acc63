import { type IncomingMessage, type ServerResponse, request } from 'node:http';
import { createServer } from 'node:https';
import type { ExecutionContext } from 'ava';
import { cdnCertificates, cdnKey } from '../examples/cdn-certificates.js';
import type { FakeStorage } from './fake-storage.js';
import { listen } from '../servers/loopback.js';

/** The domain of the good certificate. */
export const cdnHost = 'cdn.example.test';

/** The behaviour of a CDN; `passOn` forwards the request to the bucket. */
export type CdnBehaviour = (request: IncomingMessage, response: ServerResponse, passOn: () => void) => void;

export interface FakeCdn {
  readonly port: number;
  /** The received paths with queries. */
  readonly requests: readonly string[];
}

/** Starts a CDN in front of a bucket, over real TLS. @param options.originPath the prefix that it adds to each path */
export async function givenFakeCdn(
  t: ExecutionContext,
  storage: FakeStorage,
  {
    certificate = 'good',
    originPath = '',
    behaviour = (_request, _response, passOn) => passOn(),
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
  return { port: await listen(t, server), requests };
}
