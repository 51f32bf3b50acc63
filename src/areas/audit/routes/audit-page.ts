import { z } from 'zod';
import { eventTypes } from '../../../../projections/audit/reader.js';
import { makeAuditPage } from '../page/audit-page.js';
import { ignoredQuery, noBody, noParams } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';

/** Makes the route of the page for auditors (src/areas/audit/README.md#page-for-auditors). The page signs its user in itself. */
export function makeAuditPageRoutes(): readonly Route[] {
  const prepared = makeAuditPage(eventTypes);
  return [
    defineRoute({
      method: 'GET',
      path: '/audit',
      name: 'getAuditPage',
      tag: 'Audit log',
      summary: 'The page on which auditors read and check the log',
      description: 'It holds no data: its script signs the user in and checks in the browser what it shows.',
      request: { params: noParams, query: ignoredQuery, body: noBody },
      replies: { 200: { description: 'HTML.', schema: z.string(), mediaType: 'text/html' } },
      entityTag: true,
      handler: (_request) => ({ status: 200, prepared }),
    }),
  ];
}
