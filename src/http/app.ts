import Router, { type RouterContext } from '@koa/router';
import Koa from 'koa';
import { checkRoutes } from './check-routes.js';
import { describeForLog } from './error-reply.js';
import { HttpError } from './http-error.js';
import { makeObserve } from './observe.js';
import type { ObserveDeps } from './observe.js';
import type { Route } from './route.js';
import type { HttpState, Shell } from './shell.js';

export interface AppDeps extends Shell, ObserveDeps {
  readonly routes: readonly Route[];
}

/**
 * Makes the application, without listening.
 * @throws Error naming every route that lacks what a route must declare
 */
export function makeApp(deps: AppDeps): Koa<HttpState> {
  const { routes, logger } = deps;
  checkRoutes(routes);
  const routers = new Map<string, Router<HttpState>>();
  for (const route of routes) {
    const shape = shapeOf(route.path);
    const router = routers.get(shape) ?? new Router<HttpState>({ sensitive: true, strict: true });
    router.register(route.path, [route.method], route.serve(deps));
    routers.set(shape, router);
  }
  const served = new Map([...routers].map(([shape, router]) => [shape, router.routes()]));

  const app = new Koa<HttpState>();
  // Whatever goes wrong after a reply has begun: mostly clients that left.
  app.on('error', (error: unknown) => {
    logger.debug({ error: describeForLog(error) }, 'reply broken off');
  });
  app.use(makeObserve(deps));
  // A router adds to the context what its type asks for.
  app.use<HttpState, Pick<RouterContext<HttpState>, 'router' | 'params'>>(async (ctx, next) => {
    const serve = served.get(shapeOf(ctx.path));
    await (serve === undefined ? next() : serve(ctx, next));
  });
  app.use((ctx) => {
    const matched = routers.get(shapeOf(ctx.path))?.match(ctx.path, ctx.method).path ?? [];
    const methods = new Set(matched.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new HttpError('not_found', 'there is nothing at this path');
    const allow = [...methods].sort().join(', ');
    throw new HttpError('method_not_allowed', `the path allows ${allow}`, { headers: { allow } });
  });
  return app;
}

/**
 * What can be told of a path at a glance: how many segments it has, and the area that it is in. A request tries only the routes of
 * its own shape, for a router tries one pattern after the other. Parameters stand for one segment each, and never for the area.
 */
function shapeOf(path: string): string {
  const segments = path.split('/');
  return `${segments.length} ${segments[3] ?? segments[1] ?? ''}`;
}
