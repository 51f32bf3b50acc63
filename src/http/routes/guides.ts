import { z } from 'zod';
import { openGuides } from '../pages/guides/guide-files.js';
import { HttpError } from '../replies/error-codes.js';
import type { PreparedBody } from '../replies/reply.js';
import { ignoredQuery, noBody, noParams, noQuery } from '../route-spec.js';
import { type Route, defineRoute } from '../route.js';
import { randomBytes } from 'node:crypto';
import { makeDocsPage, openReaderFiles } from '../pages/docs-page.js';

const fileParams = z.object({ build: z.string(), file: z.string() });
const filesPath = '/docs/reader/:build';

/** Makes the routes of the page that shows the OpenAPI document to people, and of the files of its reader. */
export function makeDocsRoutes(): readonly Route[] {
  const files = openReaderFiles();
  const page = makeDocsPage(files, () => randomBytes(16).toString('base64'));
  const common = { method: 'GET', tag: 'Service', always: true } as const;
  const reader = {
    ...common,
    summary: 'A file of the reader of /docs',
    description: 'Its address contains a digest of all files of the reader, so caches may keep it.',
    request: { params: fileParams, query: noQuery, body: noBody },
    replies: { 200: { description: 'A module.', schema: z.string(), mediaType: 'text/javascript' } },
    errors: ['not_found'],
    entityTag: true,
    cacheControl: 'public, max-age=31536000, immutable',
  } as const;
  return [
    defineRoute({
      ...common,
      path: '/docs',
      name: 'getDocs',
      summary: 'This document as a page for people',
      request: { params: noParams, query: ignoredQuery, body: noBody },
      replies: { 200: { description: 'HTML.', schema: z.string(), mediaType: 'text/html' } },
      entityTag: true,
      // A stored page would have the nonce of an earlier policy.
      cacheControl: 'no-store',
      handler: (_request) => ({ status: 200, prepared: page() }),
    }),
    defineRoute({
      ...reader,
      path: `${filesPath}/:file`,
      name: 'getDocsReader',
      handler: ({ params: { build, file } }) => ({ status: 200, prepared: find(build, file) }),
    }),
    defineRoute({
      ...reader,
      path: `${filesPath}/chunks/:file`,
      name: 'getDocsReaderChunk',
      handler: ({ params: { build, file } }) => ({ status: 200, prepared: find(build, `chunks/${file}`) }),
    }),
  ];

  function find(build: string, name: string): PreparedBody {
    const found = build === files.build ? files.find(name) : null;
    if (found === null) throw new HttpError('not_found', 'there is no such file of the reader');
    return found;
  }
}

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
