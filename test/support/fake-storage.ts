import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

/** A reply that the storage gives in place of the right one. */
export interface FakeReply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What one kind of request is answered with. */
export type Fault = FakeReply | 'cut' | 'silent';

export type FakeOperation = 'list' | 'put' | 'get' | 'delete';

export interface FakeStorage {
  readonly port: number;
  /** Requests as they came, `PUT /bucket/key`. */
  readonly requests: readonly string[];
  readonly objects: ReadonlyMap<string, { readonly body: Buffer; readonly type: string }>;
}

/**
 * A bucket that believes everybody: what is tested with it is what the client makes of a storage's answers. Signatures are
 * for a real server to judge.
 */
export async function givenFakeStorage(
  t: ExecutionContext,
  faults: Partial<Record<FakeOperation, Fault>> = {},
): Promise<FakeStorage> {
  const objects = new Map<string, { readonly body: Buffer; readonly type: string }>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url?.split('?')[0] ?? ''}`);
    const fault = faults[operationOf(request)];
    if (fault === undefined) void answer(request, response, objects);
    else if (fault === 'cut') request.socket.destroy();
    else if (fault !== 'silent') {
      response.writeHead(fault.status, { 'content-type': 'application/xml', ...fault.headers });
      response.end(fault.body ?? '');
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests, objects };
}

function operationOf({ method, url }: IncomingMessage): FakeOperation {
  if (method === 'PUT') return 'put';
  if (method === 'DELETE') return 'delete';
  return url?.includes('max-keys') === true ? 'list' : 'get';
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  objects: Map<string, { readonly body: Buffer; readonly type: string }>,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://storage');
  switch (operationOf(request)) {
    case 'list':
      response.end('<?xml version="1.0"?><ListBucketResult></ListBucketResult>');
      return;
    case 'put': {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      objects.set(url.pathname, {
        body: Buffer.concat(chunks),
        type: request.headers['content-type'] ?? '',
      });
      response.end();
      return;
    }
    case 'get': {
      const found = objects.get(url.pathname);
      if (found === undefined) {
        response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
        return;
      }
      const type = url.searchParams.get('response-content-type') ?? found.type;
      response.writeHead(request.headers.range === undefined ? 200 : 206, { 'content-type': type });
      response.end(partOf(found.body, request.headers.range));
      return;
    }
    case 'delete':
      objects.delete(url.pathname);
      response.writeHead(204).end();
  }
}

function partOf(body: Buffer, range = ''): Buffer {
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
  return body.subarray(Number(from), to === '' ? undefined : Number(to) + 1);
}
