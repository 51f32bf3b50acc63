import { z } from 'zod';
import { makeSharePage } from '../pages/share-page.js';
import { noBody, noQuery } from '../route-spec.js';
import { defineRoute, type Route } from '../route.js';

/** Makes the route of the page that opens shares (docs/design.md#share-page). @param allowsHttp see `makeSharePage` */
export function makeSharePageRoutes({ allowsHttp }: { readonly allowsHttp: boolean }): readonly Route[] {
  const prepared = makeSharePage({ allowsHttp });
  return [
    defineRoute({
      method: 'GET',
      path: '/s/:token',
      name: 'getSharePage',
      tag: 'Shares',
      summary: 'The page that asks for a share’s password and shows its media',
      description: 'It is the same for every token.',
      request: { params: z.object({ token: z.string() }), query: noQuery, body: noBody },
      replies: { 200: { description: 'HTML.', schema: z.string(), mediaType: 'text/html' } },
      entityTag: true,
      handler: (_request) => ({ status: 200, prepared }),
    }),
  ];
}
