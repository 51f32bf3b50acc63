import type { z } from 'zod';
import { type AccessKind, publicAccess } from '../../../src/http/access/access.js';
import type { PathParams } from '../../../src/http/access/gate.js';
import type { ReplySpecs } from '../../../src/http/replies/reply.js';
import { makeRoute, type Route } from '../../../src/http/route.js';
import { type Method, type RouteSpec, noBody, noParams, noQuery } from '../../../src/http/route-spec.js';

/** A route without what `testRoute` fills in: its name and target, and access and input where they are left out. */
type TestSpec<Spec extends { readonly access: unknown; readonly request: object }> = Omit<
  Spec,
  'access' | 'name' | 'tag' | 'summary' | 'method' | 'path' | 'request'
> & {
  readonly access?: Spec['access'];
  readonly request?: Partial<Spec['request']>;
};

/** Makes a route that only a test serves. By default it is open to everyone, and its requests have no input. */
export function testRoute<
  Replies extends ReplySpecs,
  Kind extends AccessKind = 'public',
  Params extends PathParams = z.output<typeof noParams>,
  Query = z.output<typeof noQuery>,
  Body = undefined,
>(target: `${Method} /${string}`, spec: TestSpec<RouteSpec<Kind, Params, Query, Body, Replies>>): Route {
  const [method, path] = target.split(' ');
  const named = { name: target.replaceAll(/\W+/g, ''), tag: 'Test', summary: target, method, path };
  const request = { params: noParams, query: noQuery, body: noBody, ...spec.request };
  // The compiler cannot see that the defaults of the values have the types that are the defaults of the parameters.
  const route = { access: publicAccess, ...named, ...spec, request } as unknown;
  return makeRoute(route as RouteSpec<Kind, Params, Query, Body, Replies>);
}
