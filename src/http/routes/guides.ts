import { z } from 'zod';
import { openGuides } from '../pages/guide-files.js';
import type { PreparedBody } from '../replies/reply.js';
import { ignoredQuery } from '../route-spec.js';
import { type Route, routesOf, typed, missing } from '../route.js';
import { randomBytes } from 'node:crypto';
import { makeDocsPage, openReaderFiles } from '../pages/docs-page.js';

const fileParams = z.object({ build: z.string(), file: z.string() });
const filesPath = '/docs/reader/:build';
const route = routesOf({ tag: 'Service' });

/** Makes the routes of the page that shows the OpenAPI document to people, and of the files of its reader. */
export function makeDocsRoutes(): readonly Route[] {
  const files = openReaderFiles();
  const page = makeDocsPage(files, () => randomBytes(16).toString('base64'));
  const reader = {
    always: true,
    summary: 'A file of the reader of /docs',
    description: 'Its address contains a digest of all files of the reader, so caches may keep it.',
    request: { params: fileParams },
    replies: { 200: typed('text/javascript', 'A module.') },
    errors: ['not_found'],
    entityTag: true,
    cacheControl: 'public, max-age=31536000, immutable',
  } as const;
  return [
    route('getDocs', 'GET /docs', {
      always: true,
      summary: 'This document as a page for people',
      request: { query: ignoredQuery },
      replies: { 200: typed('text/html', 'HTML.') },
      entityTag: true,
      // A stored page would have the nonce of an earlier policy.
      cacheControl: 'no-store',
      handler: (_request) => ({ status: 200, prepared: page() }),
    }),
    route('getDocsReader', `GET ${filesPath}/:file`, {
      ...reader,
      handler: ({ params: { build, file } }) => ({ status: 200, prepared: find(build, file) }),
    }),
    route('getDocsReaderChunk', `GET ${filesPath}/chunks/:file`, {
      ...reader,
      handler: ({ params: { build, file } }) => ({ status: 200, prepared: find(build, `chunks/${file}`) }),
    }),
  ];

  function find(build: string, name: string): PreparedBody {
    return (
      (build === files.build ? files.find(name) : null) ?? missing('there is no such file of the reader')
    );
  }
}

/** Makes the routes of the guides: a site of pages and their modules, at most three names below /guides. */
export function makeGuideRoutes(): readonly Route[] {
  const find = openGuides();
  const common = { always: true, entityTag: true } as const;
  const page = { ...common, replies: { 200: typed('text/html', 'HTML.') }, errors: ['not_found'] } as const;
  const module = {
    ...common,
    summary: 'A file of the guides',
    replies: { 200: typed('text/html', 'A page or a module.') },
    errors: ['not_found'],
  } as const;
  return [
    route('getGuides', 'GET /guides', {
      ...page,
      summary: 'The guides for people: their first page',
      errors: [],
      request: { query: ignoredQuery },
      handler: (_request) => ({ status: 200, prepared: found('') }),
    }),
    route('getGuide', 'GET /guides/:page', {
      ...page,
      summary: 'A page of the guides',
      request: { params: z.object({ page: z.string() }), query: ignoredQuery },
      handler: ({ params }) => ({ status: 200, prepared: found(params.page) }),
    }),
    route('getGuideFile', 'GET /guides/:folder/:file', {
      ...module,
      request: { params: z.object({ folder: z.string(), file: z.string() }), query: ignoredQuery },
      handler: ({ params: { folder, file } }) => ({ status: 200, prepared: found(`${folder}/${file}`) }),
    }),
    route('getGuideChunk', 'GET /guides/assets/chunks/:file', {
      ...module,
      request: { params: z.object({ file: z.string() }), query: ignoredQuery },
      handler: ({ params }) => ({ status: 200, prepared: found(`assets/chunks/${params.file}`) }),
    }),
  ];

  function found(path: string): PreparedBody {
    return find(path) ?? missing('the guides have no such page');
  }
}
