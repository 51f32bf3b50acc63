import { z } from 'zod';
import { pageItemsMax } from '../../../projections/paging.js';
import type { RateLimit } from '../../security/rates/rate-limit.js';
import { publicAccess } from '../access/access.js';
import { contentTag } from '../replies/etag.js';
import { homePageContentSecurityPolicy, renderHomePage } from './home-page.js';
import { idempotencyKeyMs } from '../access/idempotency.js';
import { bodyBytesMax } from '../body/json-body.js';
import { tagDescriptions } from '../document/openapi-texts.js';
import { ignoredQuery, noBody, noParams, noQuery } from '../route-spec.js';
import { defineRoute, type Route } from '../route.js';

const overview = z
  .strictObject({
    service: z.literal('stowage'),
    version: z.string(),
    documentation: z.url(),
    openapi: z.url(),
    password_rules: z.string().meta({ description: 'The rules for a new password, for people.' }),
    available: z.strictObject({
      mail: z.boolean().meta({ description: 'Whether codes, invitations and notices are mailed.' }),
      passkeys: z.boolean().meta({ description: 'Whether browsers accept passkeys of this address.' }),
    }),
    areas: z.array(
      z.strictObject({
        name: z.string(),
        about: z.string(),
        paths: z.array(z.string()).meta({ description: 'Where its calls are.' }),
      }),
    ),
    limits: z.strictObject({
      body_bytes: z.int(),
      page_items: z.int(),
      idempotency_seconds: z.int().meta({ description: 'How long an `Idempotency-Key` is known.' }),
      requests_at_once: z.int().meta({ description: 'Of a user, a session or an API key.' }),
      rates: z
        .record(z.string(), z.strictObject({ limit: z.int(), seconds: z.int() }))
        .meta({ description: 'How many requests pass in how many seconds.' }),
    }),
  })
  .meta({ id: 'ServiceOverview' });

export interface HomeRouteDeps {
  readonly version: string;
  readonly publicUrl: string;
  /** The rules for a new password, for people. */
  readonly passwordRules: string;
  /** What the settings of the service make possible. */
  readonly available: { readonly mail: boolean; readonly passkeys: boolean };
  /** Requests of a caller that the service works on at once. */
  readonly requestsAtOnce: number;
  /** The limits that hold for every request of a caller. */
  readonly rates: Readonly<Record<'session' | 'user' | 'api_key', RateLimit>>;
}

/** Makes the page at `/` and the overview at `/api/v1`. @param others the other routes of the service */
export function makeHomeRoutes(deps: HomeRouteDeps, others: readonly Route[]): readonly Route[] {
  const { version, publicUrl, passwordRules } = deps;
  const { session, user, api_key } = deps.rates;
  const areas = areasOf(others);
  const page = renderHomePage(version);
  const prepared = {
    bytes: Buffer.from(page),
    tag: contentTag(page),
    contentSecurityPolicy: homePageContentSecurityPolicy,
  };
  const common = { method: 'GET', tag: 'Service', access: publicAccess, always: true } as const;
  return [
    defineRoute({
      ...common,
      path: '/',
      request: { params: noParams, query: ignoredQuery, body: noBody },
      name: 'getHome',
      summary: 'A page for people: what this service is',
      replies: { 200: { description: 'HTML.', schema: z.string(), mediaType: 'text/html' } },
      entityTag: true,
      handler: (_request) => ({ status: 200, prepared }),
    }),
    defineRoute({
      ...common,
      path: '/api/v1',
      request: { params: noParams, query: noQuery, body: noBody },
      name: 'getOverview',
      summary: 'Entry points of the service',
      replies: { 200: { description: 'Its version, documents and abilities.', schema: overview } },
      handler: (_request) => ({
        status: 200,
        body: {
          service: 'stowage' as const,
          version,
          documentation: `${publicUrl}/docs`,
          openapi: `${publicUrl}/openapi.json`,
          password_rules: passwordRules,
          available: deps.available,
          areas,
          limits: {
            body_bytes: bodyBytesMax,
            page_items: pageItemsMax,
            idempotency_seconds: idempotencyKeyMs / 1_000,
            requests_at_once: deps.requestsAtOnce,
            rates: { session: rateOf(session), user: rateOf(user), api_key: rateOf(api_key) },
          },
        },
      }),
    }),
  ];
}

/** Lists the areas of the API in the order of their tags, each with the paths under which its calls are. */
function areasOf(routes: readonly Route[]): z.output<typeof overview>['areas'] {
  return Object.entries(tagDescriptions).flatMap(([name, about]) => {
    const paths = routes.filter(({ tag }) => tag === name).map(({ path }) => rootOf(path));
    return paths.length === 0 ? [] : [{ name, about, paths: [...new Set(paths)].sort() }];
  });
}

/** Returns the beginning of a path that names its area: `/api/v1/orders`, `/api/v1/projects/{projectId}/shares`, `/audit`. */
function rootOf(path: string): string {
  const [, first = '', version, area, ...rest] = path.split('/');
  if (first !== 'api' || area === undefined) return `/${first}`;
  const length = area === 'projects' ? 2 : area === 'admin' ? 1 : 0;
  const inside = rest.length < length ? [] : rest.slice(0, length);
  return `/${[first, version, area, ...inside].join('/')}`.replaceAll(/:(\w+)/g, '{$1}');
}

function rateOf({ limit, seconds }: RateLimit): { limit: number; seconds: number } {
  return { limit, seconds };
}
