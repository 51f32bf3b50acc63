import { z } from 'zod';
import { publicAccess } from '../access.js';
import { contentTag } from '../etag.js';
import { homePageContentSecurityPolicy, renderHomePage } from '../home-page.js';
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
  })
  .meta({ id: 'ServiceOverview' });

export interface HomeRouteDeps {
  readonly version: string;
  readonly publicUrl: string;
  /** The rules for a new password, for people. */
  readonly passwordRules: string;
  /** What the settings of the service make possible. */
  readonly available: { readonly mail: boolean; readonly passkeys: boolean };
}

/** Makes the page at `/` and the overview at `/api/v1`. */
export function makeHomeRoutes(deps: HomeRouteDeps): readonly Route[] {
  const { version, publicUrl, passwordRules } = deps;
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
      summary: 'What this service offers',
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
        },
      }),
    }),
  ];
}
