import { z } from 'zod';
import { openGuides } from '../pages/guides/guide-files.js';
import { HttpError } from '../replies/error-codes.js';
import type { PreparedBody } from '../replies/reply.js';
import { ignoredQuery, noBody, noParams } from '../route-spec.js';
import { defineRoute, type Route } from '../route.js';

/** Makes the routes of the guides: a site of pages and their modules, at most three names below /guides. */
export function makeGuideRoutes(): readonly Route[] {
  const find = openGuides();
  const common = { method: 'GET', tag: 'Service', always: true, entityTag: true } as const;
  const page = {
    ...common,
    replies: { 200: { description: 'HTML.', schema: z.string(), mediaType: 'text/html' } },
    errors: ['not_found'],
  } as const;
  const module = {
    ...common,
    summary: 'A file of the guides',
    replies: { 200: { description: 'A page or a module.', schema: z.string(), mediaType: 'text/html' } },
    errors: ['not_found'],
  } as const;
  return [
    defineRoute({
      ...page,
      path: '/guides',
      name: 'getGuides',
      summary: 'The guides for people: their first page',
      errors: [],
      request: { params: noParams, query: ignoredQuery, body: noBody },
      handler: (_request) => ({ status: 200, prepared: found('') }),
    }),
    defineRoute({
      ...page,
      path: '/guides/:page',
      name: 'getGuide',
      summary: 'A page of the guides',
      request: { params: z.object({ page: z.string() }), query: ignoredQuery, body: noBody },
      handler: ({ params }) => ({ status: 200, prepared: found(params.page) }),
    }),
    defineRoute({
      ...module,
      path: '/guides/:folder/:file',
      name: 'getGuideFile',
      request: {
        params: z.object({ folder: z.string(), file: z.string() }),
        query: ignoredQuery,
        body: noBody,
      },
      handler: ({ params: { folder, file } }) => ({ status: 200, prepared: found(`${folder}/${file}`) }),
    }),
    defineRoute({
      ...module,
      path: '/guides/assets/chunks/:file',
      name: 'getGuideChunk',
      request: { params: z.object({ file: z.string() }), query: ignoredQuery, body: noBody },
      handler: ({ params }) => ({ status: 200, prepared: found(`assets/chunks/${params.file}`) }),
    }),
  ];

  function found(path: string): PreparedBody {
    const file = find(path);
    if (file === null) throw new HttpError('not_found', 'the guides have no such page');
    return file;
  }
}
