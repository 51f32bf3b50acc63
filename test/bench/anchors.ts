import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { Registry } from 'prom-client';
import type { Services } from '../../src/composition/services.js';
import { makeHttpMetrics } from '../../src/http/metrics.js';
import { refuseMalformed, makeObserve } from '../../src/http/server/observe.js';
import type { HttpState } from '../../src/http/server/shell.js';
import { makeClientIp } from '../../src/security/rates/client-ip.js';

/** Makes Koa with @koa/router and the request-id and log middleware of the service. `/<size>` sets the reply size. */
export function makeAnchor({ log, digests }: Pick<Services, 'log' | 'digests'>): Koa<HttpState> {
  const app = new Koa<HttpState>();
  app.use(
    makeObserve({
      logger: log.logger,
      metrics: makeHttpMetrics(new Registry()),
      clientIp: makeClientIp([]),
      digestIp: (address) => digests.ip(address),
      publicUrl: 'http://127.0.0.1',
      closing: () => false,
    }),
  );
  app.use(refuseMalformed);
  const router = new Router<HttpState>();
  const answer = (ctx: Koa.Context): void => {
    ctx.type = 'json';
    ctx.body = constantBody(ctx.path);
  };
  router.get('/:size', answer).post('/:size', answer);
  app.use(router.routes());
  return app;
}

/** Makes Koa alone with the same replies. */
export function makeBare(): Koa {
  const app = new Koa();
  app.use((ctx) => {
    ctx.type = 'json';
    ctx.body = constantBody(ctx.path);
  });
  return app;
}

const bodies = new Map<string, string>();

export function constantBody(path: string): string {
  let body = bodies.get(path);
  if (body === undefined) {
    body = 'x'.repeat(Number(path.slice(1)));
    bodies.set(path, body);
  }
  return body;
}

/** Listens on a free port of this machine. @returns the origin */
export async function listen(app: { callback(): Parameters<typeof createServer>[1] }): Promise<string> {
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
