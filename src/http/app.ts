import Router from '@koa/router';
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
  const router = new Router<HttpState>({ sensitive: true, strict: true });
  for (const route of routes) router.register(route.path, [route.method], route.serve(deps));

  const app = new Koa<HttpState>();
  // Whatever goes wrong after a reply has begun: mostly clients that left.
  app.on('error', (error: unknown) => {
    logger.debug({ error: describeForLog(error) }, 'reply broken off');
  });
  app.use(makeObserve(deps));
  app.use(router.routes());
  app.use((ctx) => {
    const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new HttpError('not_found', 'there is nothing at this path');
    const allow = [...methods].sort().join(', ');
    throw new HttpError('method_not_allowed', `the path allows ${allow}`, { headers: { allow } });
  });
  return app;
}
