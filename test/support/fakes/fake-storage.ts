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

/** The faulty answer to one kind of request. */
export type Fault = FakeReply | 'cut' | 'silent';

export type FakeOperation = 'list' | 'put' | 'get' | 'delete';

export interface FakeStorage {
  readonly port: number;
  /** The received requests in the form `PUT /bucket/key`. */
  readonly requests: readonly string[];
  readonly objects: ReadonlyMap<string, { readonly body: Buffer; readonly type: string }>;
}

/**
 * Starts a bucket that accepts every signature. It tests how the client handles the answers of a storage; a real server
 * must judge signatures.
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
      const { body } = found;
      const range = rangeOf(body, request.headers.range);
      response.writeHead(range === null ? 200 : 206, {
        'content-type': type,
        'accept-ranges': 'bytes',
        ...(range && { 'content-range': `bytes ${range.from}-${range.to}/${body.length}` }),
      });
      response.end(range === null ? body : body.subarray(range.from, range.to + 1));
      return;
    }
    case 'delete':
      objects.delete(url.pathname);
      response.writeHead(204).end();
  }
}

/** Returns the first and the last requested byte; null for a request of all bytes. */
function rangeOf(
  { length }: Buffer,
  header: string | undefined,
): { readonly from: number; readonly to: number } | null {
  const [, from, to = ''] = /^bytes=(\d+)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined) return null;
  return { from: Number(from), to: Math.min(length - 1, to === '' ? Infinity : Number(to)) };
}
