import { z } from 'zod';
import { eventTypes } from '../../../../projections/audit/reader.js';
import { ignoredQuery, noBody, noParams } from '../../../http/route-spec.js';
import { type Route, defineRoute } from '../../../http/route.js';
import type { PreparedBody } from '../../../http/replies/reply.js';
import { preparePage, readPageScript } from '../../../http/pages/prepare-page.js';
import { makeAuditPageBody } from '../page/audit-page-body.js';
import { auditPageStyle } from '../page/audit-page-style.js';

/**
 * Makes the page for auditors: src/areas/audit/README.md#page-for-auditors. It is the same for every caller and holds no data.
 * @param types all types of events
 */
function makeAuditPage(types: readonly string[]): PreparedBody {
  const script = readPageScript('audit');
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow"><link rel="icon" href="data:,"><title>Audit log</title><style>${auditPageStyle}</style></head>
<body>${makeAuditPageBody(types)}<script type="module">${script}</script></body></html>
`;
  return preparePage({ html, script, style: auditPageStyle, sources: ['img-src data:'] });
}

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
