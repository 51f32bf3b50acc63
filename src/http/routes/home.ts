import { namedObject } from '../../validation/fields.js';
import { z } from 'zod';
import { pageItemsMax } from '../../../projections/paging.js';
import type { RateLimit } from '../../security/rates/rate-limit.js';
import { contentTag } from '../replies/reply.js';
import { idempotencyKeyMs } from '../access/idempotency.js';
import { bodyBytesMax } from '../body/json-body.js';
import { tagDescriptions } from '../document/openapi-texts.js';
import { policyOf } from '../pages/prepare-page.js';
import { ignoredQuery } from '../route-spec.js';
import { type Route, json, routesOf, typed } from '../route.js';
import { createHash } from 'node:crypto';

const style = `
:root { color-scheme: light dark; --text: #1b2330; --faint: #526070; --back: #eef1f6; --card: #fff; --hair: #d9dfe8; --accent: #1f4fbf }
@media (prefers-color-scheme: dark) { :root { --text: #e8ecf2; --faint: #a9b5c4; --back: #12161c; --card: #1b212a; --hair: #313a47; --accent: #8fb3ff } }
* { box-sizing: border-box }
body { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem; color: var(--text); background: var(--back); font: 1rem/1.5 system-ui, sans-serif }
h1 { margin: 0 } h2 { margin: 0 0 .5rem; font-size: 1.125rem } p { margin: .25rem 0 } a { color: var(--accent) } .faint { color: var(--faint) }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; margin-top: 1.5rem }
section { padding: 1.25rem; background: var(--card); border: 1px solid var(--hair); border-radius: 1rem }
code { font: .875em ui-monospace, monospace; overflow-wrap: anywhere }
`;

/** The page runs no script and fetches nothing. The policy names its one style sheet by digest. */
const contentSecurityPolicy = policyOf([
  'img-src data:',
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
]);

/** Returns the page at `/`: what this service is, and where its documents and its health are. */
function renderHomePage(version: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>Stowage</title><style>${style}</style></head>
<body><header><h1>Stowage</h1>
<p>The backend of products that sell and share media: accounts, projects that bring their own bucket, shares behind a password, and
payments. Each change is an event that can be replayed and proven.</p>
<p class="faint">Version ${version}</p></header>
<main>
<section><h2>Call it</h2><p><a href="/docs">The API for people</a>, with a form that sends each call.</p>
<p>The same as <a href="/openapi.json">OpenAPI 3.1</a>; <a href="/api/v1">what this service offers</a> as JSON.</p></section>
<section><h2>Read</h2><p><a href="/guides/">The guides</a>: start, concepts, operation, reference. <a href="/guides/zh/" lang="zh-Hans">中文</a></p></section>
<section><h2>Try it</h2><p><a href="/guides/example">The example</a>: an app that shares a file in five clicks. In the clone:
<code>npm run example</code></p></section>
<section><h2>Check it</h2><p><a href="/audit">The page for auditors</a> proves in the browser what happened.</p></section>
<section><h2>Health</h2><p><a href="/healthz">Is the process alive?</a></p><p><a href="/readyz">May it be sent requests?</a></p></section>
</main></body></html>
`;
}

const overview = namedObject('ServiceOverview', {
  service: z.literal('stowage'),
  version: z.string(),
  documentation: z.url(),
  openapi: z.url(),
  password_rules: z.string().describe('The rules for a new password, for people.'),
  available: z.strictObject({
    mail: z.boolean().describe('Whether codes, invitations and notices are mailed.'),
    passkeys: z.boolean().describe('Whether browsers accept passkeys of this address.'),
  }),
  areas: z.array(
    z.strictObject({
      name: z.string(),
      about: z.string(),
      paths: z.array(z.string()).describe('Where its calls are.'),
    }),
  ),
  limits: z.strictObject({
    body_bytes: z.int(),
    page_items: z.int(),
    idempotency_seconds: z.int().describe('How long an `Idempotency-Key` is known.'),
    requests_at_once: z.int().describe('Of a user, a session or an API key.'),
    rates: z
      .record(z.string(), z.strictObject({ limit: z.int(), seconds: z.int() }))
      .describe('How many requests pass in how many seconds.'),
  }),
});

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
    contentSecurityPolicy,
  };
  const route = routesOf({ tag: 'Service' });
  return [
    route('getHome', 'GET /', {
      always: true,
      request: { query: ignoredQuery },
      summary: 'A page for people: what this service is',
      replies: { 200: typed('text/html', 'HTML.') },
      entityTag: true,
      handler: (_request) => ({ status: 200, prepared }),
    }),
    route('getOverview', 'GET /api/v1', {
      always: true,
      summary: 'Entry points of the service',
      replies: { 200: json('Its version, documents and abilities.', overview) },
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
