import type { RouterMiddleware } from '@koa/router';
import type { z } from 'zod';
import type { AccessKind, Policy } from './access.js';
import { makeExchange } from './exchange.js';
import type { PathParams } from './gate.js';
import type { ReplySpecs } from './reply.js';
import type { RouteSpec } from './route-spec.js';
import type { HttpState, Shell } from './shell.js';

/** A route whose types have served their purpose: the data that is published, and the middleware that serves it. */
export type Route = Omit<
  RouteSpec<AccessKind, PathParams, unknown, unknown, ReplySpecs>,
  'handler' | 'request' | 'access'
> & {
  readonly access: Policy;
  readonly request: { readonly params: z.ZodType; readonly query: z.ZodType; readonly body: z.ZodType };
  /** Takes any bytes as they are: see `defineRawRoute`. `errorCodes`: those of the callers' protocols, beside ours. */
  readonly raw?: { readonly errorCodes: readonly string[] };
  serve(shell: Shell): RouterMiddleware<HttpState>;
};

export function defineRoute<
  Kind extends AccessKind,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
>(spec: RouteSpec<Kind, Params, Query, Body, Replies>): Route {
  return { ...spec, serve: (shell) => makeExchange(spec, shell) };
}
