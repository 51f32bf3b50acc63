import Router, { type RouterContext } from '@koa/router';
import Koa from 'koa';
import { areaOf, checkRoutes } from './check-routes.js';
import { makeCors } from './cors.js';
import { describeForLog } from './error-reply.js';
import { HttpError } from './http-error.js';
import { type AdmitDeps, makeAdmit, makeObserve, type ObserveDeps } from './observe.js';
import type { Route } from './route.js';
import type { RequestLimits, StoreName } from './request-limits.js';
import type { HttpState, Shell } from './shell.js';

export interface AppDeps extends Shell, ObserveDeps, AdmitDeps {
  readonly routes: readonly Route[];
  readonly requestLimits: RequestLimits;
  /** The origins of pages that may read replies; null, or left out, for any. */
  readonly corsOrigins?: readonly string[] | null;
}

/** Makes the application. It does not listen. @throws Error naming every route with an incomplete declaration */
export function makeApp(deps: AppDeps): Koa<HttpState> {
  const { routes, logger, requestLimits } = deps;
  checkRoutes(routes);
  const routers = new Map<string, Router<HttpState>>();
  for (const route of routes) {
    const shape = shapeOf(route.path);
    const router = routers.get(shape) ?? new Router<HttpState>({ sensitive: true, strict: true });
    const [serve, stores] = [route.serve(deps), storesFor(route)];
    router.register(route.path, [route.method], (ctx) =>
      requestLimits.run(ctx.state.tracked, stores, () => serve(ctx)),
    );
    routers.set(shape, router);
  }

  const app = new Koa<HttpState>();
  // Receives errors after the start of a reply, mostly from clients that disconnected.
  app.on('error', (error: unknown) => {
    logger.debug({ error: describeForLog(error) }, 'reply broken off');
  });
  app.use(makeObserve(deps));
  app.use(makeCors(deps.corsOrigins ?? null));
  app.use(makeAdmit(deps));
  // The routers only match and parse the path. Their dispatch, which can run several routes, costs twice as much.
  app.use(async (ctx, next) => {
    const { path } = ctx;
    const matched = routers.get(shapeOf(path))?.match(path, ctx.method);
    const layers = mostFixed(matched?.path ?? []);
    const layer = layers.find(({ methods }) => methods.includes(ctx.method));
    const serve = layer?.stack[0];
    if (layer === undefined || serve === undefined) {
      throw notServed(layers.flatMap(({ methods }) => methods));
    }
    const params = layer.params(path, layer.captures(path));
    await serve(Object.assign(ctx, { params }) as RouterContext<HttpState>, next);
  });
  return app;
}

/** Returns the stores without which a request to the route cannot succeed. */
function storesFor({ method, raw }: Route): readonly StoreName[] {
  // The acceptance of a payment callback needs the log alone, and reads go on while the log is away.
  if (raw !== undefined) return ['eventStore'];
  return method === 'GET' ? ['readModels', 'state'] : ['eventStore', 'readModels', 'state'];
}

/** Returns the patterns with the fewest parameters: `/assets/import` also matches `/assets/:assetId`, and is no id. */
function mostFixed<Layer extends { readonly paramNames: readonly unknown[] }>(
  layers: readonly Layer[],
): readonly Layer[] {
  if (layers.length < 2) return layers;
  const fewest = Math.min(...layers.map(({ paramNames }) => paramNames.length));
  return layers.filter(({ paramNames }) => paramNames.length === fewest);
}

/** @param methods the methods of the path; none for an unknown path */
function notServed(methods: readonly string[]): HttpError {
  if (methods.length === 0) return new HttpError('not_found', 'there is nothing at this path');
  const allow = [...new Set(methods)].sort().join(', ');
  return new HttpError('method_not_allowed', `the path allows ${allow}`, { headers: { allow } });
}

/**
 * Returns the number of a path's segments, and its area. A request tries only routes with the same key, because a
 * router tries one pattern after the other. A parameter stands for one segment, and never for the area.
 */
function shapeOf(path: string): string {
  let segments = 0;
  for (let at = 0; at !== -1; at = path.indexOf('/', at + 1)) segments += 1;
  return `${segments} ${areaOf(path)}`;
}
