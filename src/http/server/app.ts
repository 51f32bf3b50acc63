import Router, { type RouterContext } from '@koa/router';
import Koa from 'koa';
import { checkRoutes } from './check-routes.js';
import { makeCors } from '../replies/cors.js';
import { describeForLog } from '../replies/error-reply.js';
import { HttpError } from '../replies/error-codes.js';
import { makeObserve, type ObserveDeps, refuseMalformed } from './observe.js';
import { type Route, areaOf } from '../route.js';
import type { RequestLimits, StoreName } from '../access/limits.js';
import type { HttpState, Shell } from './shell.js';

interface AppDeps extends Shell, ObserveDeps {
  readonly routes: readonly Route[];
  readonly requestLimits: RequestLimits;
  /** The origins of pages that may read replies; null, or left out, for any. */
  readonly corsOrigins?: readonly string[] | null;
}

/** Paths that are taken with a slash at their end. */
const withSlash = /^(\/s\/[^/]+|\/guides(?:\/[^/]+)?|\/api\/v1\/payment\/webhooks\/[^/]+)\/$/;

/** Makes the application. It does not listen. @throws Error naming every route with an incomplete declaration */
export function makeApp(deps: AppDeps): Koa<HttpState> {
  const { routes, logger, requestLimits } = deps;
  checkRoutes(routes);
  const byShape = new Map<string, Served[]>();
  /** By method and path: the routes without a parameter, which need no pattern. Agents and monitors ask them most often. */
  const fixed = new Map<string, Serve>();
  for (const route of routes) {
    const shape = shapeOf(route.path);
    const stores = storesFor(route);
    let work: Serve | null = null;
    const serve: Serve = (ctx) =>
      requestLimits.run(ctx.state.tracked, stores, () => (work ??= route.serve(deps))(ctx));
    byShape.set(shape, [...(byShape.get(shape) ?? []), { route, serve }]);
    if (!route.path.includes(':')) fixed.set(`${route.method} ${route.path}`, serve);
  }
  const routers = new Map<string, Router<HttpState>>();
  const app = new Koa<HttpState>();
  // Receives errors after the start of a reply, mostly from clients that disconnected.
  app.on('error', (error: unknown) => logger.debug({ error: describeForLog(error) }, 'reply broken off'));
  app.use(makeObserve(deps));
  app.use(makeCors(deps.corsOrigins ?? null));
  app.use(refuseMalformed);
  // The routers only match and parse the path. Their dispatch, which can run several routes, costs twice as much.
  app.use((ctx, next) => {
    // Programs for mail and chat add a slash to the link of a share, and people to the URL of callbacks.
    const path = ctx.path.replace(withSlash, '$1');
    const known = fixed.get(`${ctx.method} ${path}`);
    if (known !== undefined) return known(Object.assign(ctx, { params: {} }) as RouterContext<HttpState>);
    const matched = routerOf(shapeOf(path))?.match(path, ctx.method);
    const layers = mostFixed(matched?.path ?? []);
    const layer = layers.find(({ methods }) => methods.includes(ctx.method));
    const serve = layer?.stack[0];
    if (layer === undefined || serve === undefined) throw notServed(layers.flatMap(({ methods }) => methods));
    const params = layer.params(path, layer.captures(path));
    return serve(Object.assign(ctx, { params }) as RouterContext<HttpState>, next) as Promise<void>;
  });
  return app;

  /** Makes the patterns of a shape at the first request for it: a process in a test serves few of the routes. */
  function routerOf(shape: string): Router<HttpState> | undefined {
    const served = byShape.get(shape);
    if (served === undefined || routers.has(shape)) return routers.get(shape);
    const router = new Router<HttpState>({ sensitive: true, strict: true });
    for (const { route, serve } of served) router.register(route.path, [route.method], serve);
    routers.set(shape, router);
    return router;
  }
}

type Served = { readonly route: Route; readonly serve: Serve };

type Serve = (ctx: RouterContext<HttpState>) => Promise<void>;

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
