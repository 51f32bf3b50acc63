import { z } from 'zod';
import type { ShareCommands } from '../commands/index.js';
import { framedBy, makeSharePage } from '../page/share-page.js';
import { ignoredQuery, noBody } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';

/** Makes the route of the page that opens shares (src/areas/shares/README.md#share-page). @param allowsHttp see `makeSharePage` */
export function makeSharePageRoutes({
  allowsHttp,
  findFraming,
}: Pick<ShareCommands, 'findFraming'> & { readonly allowsHttp: boolean }): readonly Route[] {
  const page = makeSharePage({ allowsHttp });
  return [
    defineRoute({
      method: 'GET',
      path: '/s/:token',
      name: 'getSharePage',
      tag: 'Shares',
      summary: 'The page that asks for a share’s password and shows its media',
      description:
        'It is the same for every token. `Accept-Language` selects its language. ' +
        'Pages of the origins in `frame_ancestors` may show that of an open share.',
      request: { params: z.object({ token: z.string() }), query: ignoredQuery, body: noBody },
      replies: { 200: { description: 'HTML.', schema: z.string(), mediaType: 'text/html' } },
      entityTag: true,
      handler: async ({ params: { token }, acceptLanguage }) => ({
        status: 200,
        prepared: framedBy(page(acceptLanguage), await findFraming(token)),
      }),
    }),
  ];
}
