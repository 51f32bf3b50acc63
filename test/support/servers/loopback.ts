import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';

/**
 * Lets a server listen on a free port of this machine until the end of the test. It keeps idle connections: on a slow machine it
 * would close one while a client sends the next request on it. Returns the port.
 */
export async function listen(
  t: ExecutionContext,
  server: Server & { readonly closeAllConnections?: () => void; keepAliveTimeout?: number },
): Promise<number> {
  if (server.keepAliveTimeout !== undefined) server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Serves requests on this machine until the end of the test. Returns the origin. */
export async function serve(t: ExecutionContext, handler: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(t, createServer(handler))}`;
}

/** Answers a request to a proxy as a service does. @param change returns the body of a reply that is no error */
export async function relay(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  change = (body: Buffer): Buffer | string => body,
): Promise<void> {
  const asked = await buffer(request);
  const { authorization, 'content-type': type } = request.headers;
  const reply = await fetch(`${origin}${request.url ?? ''}`, {
    method: request.method ?? 'GET',
    headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
    ...(asked.length === 0 ? {} : { body: asked.toString() }),
  });
  const body = Buffer.from(await reply.arrayBuffer());
  for (const name of ['content-type', 'content-security-policy', 'retry-after']) {
    const value = reply.headers.get(name);
    if (value !== null) response.setHeader(name, value);
  }
  response.writeHead(reply.status).end(reply.ok ? change(body) : body);
}
