import type { RouterContext } from '@koa/router';
import type { z } from 'zod';
import { accessMatrix, type KindOf, type RouteName } from './access/access-matrix.js';
import type { AccessKind, Policy } from './access/access.js';
import type { ErrorCode } from './replies/error-codes.js';
import { makeExchange } from './server/exchange.js';
import type { PathParams } from './access/gate.js';
import type { ReplySpecs } from './replies/reply.js';
import type { GuardedAction } from '../areas/accounts/domain/guard.js';
import type { RouteSpec } from './route-spec.js';
import type { HttpState, Shell } from './server/shell.js';

/** A route without its type parameters: the data for the OpenAPI document, and the middleware that serves it. */
export type Route = Omit<
  RouteSpec<AccessKind, PathParams, unknown, unknown, ReplySpecs>,
  'handler' | 'check' | 'request' | 'access' | 'errors' | 'guards' | 'isGone' | 'deviceOf'
> & {
  readonly errors: readonly ErrorCode[];
  readonly access: Policy;
  readonly guards?: ((request: never) => GuardedAction | null) | undefined;
  readonly isGone?: ((made: never, request: never) => boolean | Promise<boolean>) | undefined;
  readonly deviceOf?: ((request: never) => Promise<unknown>) | undefined;
  readonly request: { readonly params: z.ZodType; readonly query: z.ZodType; readonly body: z.ZodType };
  /** For routes that accept any bytes: see `defineRawRoute`. `errorCodes` are those of the callers' protocols. */
  readonly raw?: { readonly errorCodes: readonly string[] };
  serve(shell: Shell): (ctx: RouterContext<HttpState>) => Promise<void>;
};

/** Makes a route with the policy that the caller gives. Every route of the service has the policy of its name: see `defineRoute`. */
export function makeRoute<
  Kind extends AccessKind,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
>(spec: RouteSpec<Kind, Params, Query, Body, Replies>): Route {
  return { errors: [], ...spec, serve: (shell) => makeExchange(spec, shell) };
}

/** Defines a route of the service. The access matrix gives the policy of the route's name. */
export function defineRoute<
  Name extends RouteName,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
>(
  spec: Omit<RouteSpec<KindOf<Name>, Params, Query, Body, Replies>, 'access' | 'name'> & {
    readonly name: Name;
  },
): Route {
  return makeRoute<KindOf<Name>, Params, Query, Body, Replies>({ ...spec, access: accessMatrix[spec.name] });
}
