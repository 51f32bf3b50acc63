import type { z } from 'zod';
import { type AccessKind, publicAccess } from '../../../src/http/access/access.js';
import type { PathParams } from '../../../src/http/access/gate.js';
import type { ReplySpecs } from '../../../src/http/replies/reply.js';
import { makeRoute, type Route } from '../../../src/http/route.js';
import { type Method, type RouteSpec, noBody, noParams, noQuery } from '../../../src/http/route-spec.js';

type TestSpec<
  Kind extends AccessKind,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
  Spec = RouteSpec<Kind, Params, Query, Body, Replies>,
> = Omit<Spec, 'access' | 'name' | 'tag' | 'summary' | 'method' | 'path' | 'request'> & {
  readonly access?: RouteSpec<Kind, Params, Query, Body, Replies>['access'];
  readonly request?: Partial<RouteSpec<Kind, Params, Query, Body, Replies>['request']>;
};

/** Makes a route that only a test serves. Without more it is open to everyone, and its requests have no input. */
export function testRoute<
  Replies extends ReplySpecs,
  Kind extends AccessKind = 'public',
  Params extends PathParams = z.output<typeof noParams>,
  Query = z.output<typeof noQuery>,
  Body = undefined,
>(
  target: `${Method} /${string}`,
  { access, request, ...spec }: TestSpec<Kind, Params, Query, Body, Replies>,
): Route {
  const [method, path = ''] = target.split(' ') as [Method, string?];
  return makeRoute<Kind, Params, Query, Body, Replies>({
    ...({ ...spec, method, path } as Pick<
      RouteSpec<Kind, Params, Query, Body, Replies>,
      'replies' | 'handler'
    >),
    ...{ name: target.replaceAll(/\W+/g, ''), tag: 'Test', summary: target, method, path },
    // What is left out has the type that its parameter has then.
    access: access ?? (publicAccess as never),
    request: { params: noParams, query: noQuery, body: noBody, ...request } as RouteSpec<
      Kind,
      Params,
      Query,
      Body,
      Replies
    >['request'],
  });
}
