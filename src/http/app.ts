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

  const app = new Koa<HttpState>();
  // Whatever goes wrong after a reply has begun: mostly clients that left.
  app.on('error', (error: unknown) => {
    logger.debug({ error: describeForLog(error) }, 'reply broken off');
  });
  app.use(makeObserve(deps));
  // The routers match and take the path apart. What else they do before a route, which is for routes in a row, costs as much.
  app.use(async (ctx, next) => {
    const { path } = ctx;
    const matched = routers.get(shapeOf(path))?.match(path, ctx.method);
    const layer = matched?.pathAndMethod[0];
    const serve = layer?.stack[0];
    if (layer === undefined || serve === undefined) {
      throw notServed(matched?.path.flatMap(({ methods }) => methods) ?? []);
    }
    const params = layer.params(path, layer.captures(path));
    await serve(Object.assign(ctx, { params }) as RouterContext<HttpState>, next);
  });
  return app;
}

/** @param methods those that the path has; none where there is nothing at it */
function notServed(methods: readonly string[]): HttpError {
  if (methods.length === 0) return new HttpError('not_found', 'there is nothing at this path');
  const allow = [...new Set(methods)].sort().join(', ');
  return new HttpError('method_not_allowed', `the path allows ${allow}`, { headers: { allow } });
}

/**
 * What can be told of a path at a glance: how many segments it has, and the area that it is in. A request tries only the routes of
 * its own shape, for a router tries one pattern after the other. Parameters stand for one segment each, and never for the area.
 */
function shapeOf(path: string): string {
  const segments = path.split('/');
  return `${segments.length} ${segments[3] ?? segments[1] ?? ''}`;
}
