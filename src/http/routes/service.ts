import { namedObject } from '../../validation/fields.js';
import { z } from 'zod';
import { jwksCacheSeconds } from '../../security/tokens/access-tokens.js';
import { HttpError } from '../replies/error-codes.js';
import { makeOpenApi } from '../document/openapi.js';
import type { Readiness } from '../../observing/health.js';
import { prepareText } from '../body/raw-body.js';
import type { PreparedBody } from '../replies/reply.js';
import { type Route, json, routesOf } from '../route.js';
import { makeDocsRoutes, makeGuideRoutes } from './guides.js';
import { type HomeRouteDeps, makeHomeRoutes } from './home.js';

const health = namedObject('Health', { status: z.literal('ok') });

const fine: z.output<typeof health> = { status: 'ok' };

const jwks = namedObject('JsonWebKeySet', {
  keys: z.array(
    z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), kid: z.string(), x: z.string() }),
  ),
});

export interface ServiceRouteDeps extends HomeRouteDeps {
  readonly readiness: Readiness;
  readonly jwks: () => Promise<unknown>;
}

/** Makes the routes of health, public keys, and the description of all routes, including these. */
export function makeServiceRoutes(deps: ServiceRouteDeps, others: readonly Route[]): readonly Route[] {
  const { readiness } = deps;
  const route = routesOf({ tag: 'Service' });
  const ownRoutes: Route[] = [
    ...makeHomeRoutes(deps, others),
    route('getHealth', 'GET /healthz', {
      always: true,
      unbounded: true,
      summary: 'Tell whether the process is alive',
      replies: { 200: json('It is.', health) },
      cacheControl: 'no-store',
      handler: (_request) => ({ status: 200, body: fine }),
    }),
    route('getReadiness', 'GET /readyz', {
      always: true,
      unbounded: true,
      summary: 'Tell whether the process is ready for requests',
      description: 'Stores are reachable and projections have caught up.',
      replies: { 200: json('It may.', health) },
      errors: ['store_unavailable'],
      cacheControl: 'no-store',
      handler: (_request) => {
        if (!readiness.ready().ok) throw new HttpError('store_unavailable', 'the service is not ready');
        return { status: 200, body: fine };
      },
    }),
    route('getKeys', 'GET /.well-known/jwks.json', {
      always: true,
      summary: 'The public keys that access tokens are signed with',
      replies: { 200: json('A JSON Web Key Set (RFC 7517).', jwks) },
      cacheControl: `public, max-age=${jwksCacheSeconds}`,
      handler: async (_request) => ({ status: 200, body: jwks.parse(await deps.jwks()) }),
    }),
    route('getOpenApi', 'GET /openapi.json', {
      always: true,
      summary: 'This document',
      replies: { 200: json('OpenAPI 3.1.', z.looseObject({ openapi: z.string() })) },
      entityTag: true,
      handler: (_request) => ({ status: 200, prepared: document() }),
    }),
    ...makeDocsRoutes(),
    ...makeGuideRoutes(),
  ];
  let made: PreparedBody | null = null;
  return ownRoutes;

  /** Makes the document once, at the first request for it. */
  function document(): PreparedBody {
    made ??= prepareText(JSON.stringify(makeOpenApi([...others, ...ownRoutes], deps)));
    return made;
  }
}
