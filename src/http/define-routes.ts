import type { z } from 'zod';
import type { RouteName, KindOf } from './access/access-matrix.js';
import type { PathParams } from './access/gate.js';
import { HttpError } from './replies/error-codes.js';
import type { ReplySpecs } from './replies/reply.js';
import { noBody, noParams, noQuery, type RouteSpec } from './route-spec.js';
import { defineRoute, type Route } from './route.js';

/** A route beside those of the same tag. What it leaves out is theirs; a schema that both leave out takes nothing. */
type RouteOf<
  Name extends RouteName,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
> = Omit<
  RouteSpec<KindOf<Name>, Params, Query, Body, Replies>,
  'access' | 'name' | 'tag' | 'path' | 'request'
> & {
  readonly name: Name;
  readonly tag?: string;
  /** What follows the path that the routes share. */
  readonly path?: string;
  readonly request?: {
    readonly params?: z.ZodType<Params>;
    readonly query?: z.ZodType<Query>;
    readonly body?: z.ZodType<Body>;
  };
};

/** Makes what defines routes with one tag, and with one beginning of their paths and parameters, where they share these. */
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
  >({
    tag = shared.tag,
    path = '',
    request = {},
    ...spec
  }: RouteOf<Name, Params, Query, Body, Replies>): Route => {
    const { params = shared.params ?? noParams, query = noQuery, body = noBody } = request;
    return defineRoute<Name, Params, Query, Body, Replies>({
      ...spec,
      tag,
      path: `${shared.path ?? ''}${path}`,
      // A schema that is left out has the type that its parameter has then.
      request: { params, query, body } as RouteSpec<KindOf<Name>, Params, Query, Body, Replies>['request'],
    });
  };
}

export function ok<Body>(body: Body): { readonly status: 200; readonly body: Body } {
  return { status: 200, body };
}

/** Replies with a resource and its entity tag. */
export function current<Body>({
  resource,
  revision,
}: {
  readonly resource: Body;
  readonly revision: bigint;
}): { readonly status: 200; readonly body: Body; readonly revision: bigint } {
  return { status: 200, body: resource, revision };
}

/** Replies without a body, once the work has ended. */
export async function finished(
  work: Promise<unknown>,
): Promise<{ readonly status: 204; readonly body: undefined }> {
  await work;
  return { status: 204, body: undefined };
}

/** @throws HttpError not_found */
export function missing(message: string): never {
  throw new HttpError('not_found', message);
}
