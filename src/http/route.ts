import type { RouterContext } from '@koa/router';
import { z } from 'zod';
import { accessMatrix, type KindOf, type RouteName } from './access/access-matrix.js';
import type { AccessKind, Policy } from './access/access.js';
import { type ErrorCode, HttpError } from './replies/error-codes.js';
import { makeExchange } from './server/exchange.js';
import type { PathParams } from './access/gate.js';
import { noContent, type ReplySpec, type ReplySpecs } from './replies/reply.js';
import type { Versioned } from '../event-sourcing/views/views.js';
import type { GuardedAction } from '../areas/accounts/domain/guard.js';
import { type Method, type RouteSpec, noBody, noParams, noQuery } from './route-spec.js';
import type { HttpState, Shell } from './server/shell.js';

/** A route without its type parameters: the data for the OpenAPI document, and the middleware that serves it. */
export type Route = Omit<
  RouteSpec<AccessKind, PathParams, unknown, unknown, ReplySpecs>,
  'handler' | 'wanted' | 'check' | 'request' | 'access' | 'errors' | 'guards' | 'isGone' | 'deviceOf'
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

/** Makes a route with the policy that the caller gives. Every route of the service has the policy of its name: see `routesOf`. */
export function makeRoute<
  Kind extends AccessKind,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
>(spec: RouteSpec<Kind, Params, Query, Body, Replies>): Route {
  return { errors: [], ...spec, serve: (shell) => makeExchange(spec, shell) };
}

/** A route beside those of the same tag. What it leaves out is theirs; a schema that both leave out takes nothing. */
type RouteOf<
  Name extends RouteName,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
> = Omit<
  RouteSpec<KindOf<Name>, Params, Query, Body, Replies>,
  'access' | 'name' | 'tag' | 'method' | 'path' | 'request'
> & {
  readonly tag?: string;
  readonly request?: {
    readonly params?: z.ZodType<Params>;
    readonly query?: z.ZodType<Query>;
    readonly body?: z.ZodType<Body>;
  };
};

/**
 * Makes what defines routes of the service with one tag, and with one beginning of their paths and parameters, where they share these. The target of
 * a route is its method, and what follows the path that the routes share: `POST /:assetId/upload-url`. The access matrix gives the policy
 * of its name.
 */
export function routesOf<Shared extends PathParams = z.output<typeof noParams>>(shared: {
  readonly tag: string;
  readonly path?: string;
  readonly params?: z.ZodType<Shared>;
}) {
  return <
    Name extends RouteName,
    Replies extends ReplySpecs,
    Params extends PathParams = Shared,
    Query = z.output<typeof noQuery>,
    Body = undefined,
  >(
    name: Name,
    target: Method | `${Method} /${string}`,
    { tag = shared.tag, request = {}, ...spec }: RouteOf<Name, Params, Query, Body, Replies>,
  ): Route => {
    const { params = shared.params ?? noParams, query = noQuery, body = noBody } = request;
    const [method, path = ''] = target.split(' ') as [Method, string?];
    const hasBody = Object.values<ReplySpec>(spec.replies).some(({ schema }) => schema !== noContent);
    return makeRoute<KindOf<Name>, Params, Query, Body, Replies>({
      // The reply that shows a change has the tag for the next one.
      entityTag: spec.ifMatch === true && hasBody,
      ...{ ...spec, name, tag, method, path: `${shared.path ?? ''}${path}`, access: accessMatrix[name] },
      // A schema that is left out has the type that its parameter has then.
      request: { params, query, body } as RouteSpec<KindOf<Name>, Params, Query, Body, Replies>['request'],
    });
  };
}

/** Documents a reply of JSON. */
export function json<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, schema };
}

/** Documents a reply of another media type, which is text unless the schema says more. */
export function typed(mediaType: string, description: string, schema: z.ZodType<string> = z.string()) {
  return { description, schema, mediaType };
}

/** Documents a reply without a body. */
export function empty(description: string) {
  return { description, schema: noContent };
}

export function ok<Body>(body: Body): { readonly status: 200; readonly body: Body } {
  return { status: 200, body };
}

/** Replies with a resource and its entity tag. */
export function current<Body>({ resource, revision }: Versioned<Body>) {
  return { status: 200, body: resource, revision } as const;
}

/** Replies with a new resource, its entity tag and its address. @param path of the list that has it */
export function created<Body extends { readonly id: string }>(
  { resource, revision }: Versioned<Body>,
  path: string,
): { readonly status: 201; readonly body: Body; readonly revision: bigint; readonly location: string } {
  return { status: 201, body: resource, revision, location: `${path}/${resource.id}` };
}

/** Replies without a body, once the work has ended. */
export async function finished(work: Promise<unknown>) {
  await work;
  return { status: 204, body: undefined } as const;
}

/** @throws HttpError not_found */
export function missing(message: string): never {
  throw new HttpError('not_found', message);
}

const areaPattern = /^\/(?:api\/[^/?#]*\/)?([^/?#]*)/;

/** Returns the area of a path or a URL: `projects` of `/api/v1/projects/…`, `audit` of `/audit/…`. */
export function areaOf(path: string): string {
  return areaPattern.exec(path)?.[1] ?? '';
}
