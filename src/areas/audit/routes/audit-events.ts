import { z } from 'zod';
import type { AuditLog } from '../signing/audit-log.js';
import { type AuditNameReader, auditNameResource } from '../../../../projections/audit/names/reader.js';
import { type AuditReader, eventTypes } from '../../../../projections/audit/reader.js';
import { auditEventResource, auditStreamResource } from '../../../../projections/audit/resource.js';
import { pageOf } from '../../../../projections/paging.js';
import { auditEventsQuery, momentQuery, namedStreamsQuery, pageOfEvents, searchOf } from './audit-query.js';
import { HttpError } from '../../../http/replies/error-codes.js';
import { ignoredQuery } from '../../../http/route-spec.js';
import { type Route, json, missing, ok, routesOf, typed } from '../../../http/route.js';
import { readSignedLog } from './audit-log.js';
import type { PreparedBody } from '../../../http/replies/reply.js';
import { preparePage, readPageScript } from '../../../http/pages/prepare-page.js';
import { auditPageStyle, makeAuditPageBody } from '../page/audit-page-body.js';

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
  let prepared: PreparedBody | undefined;
  return [
    routesOf({ tag: 'Audit log' })('getAuditPage', 'GET /audit', {
      summary: 'The page on which auditors read and check the log',
      description: 'It holds no data: its script signs the user in and checks in the browser what it shows.',
      request: { query: ignoredQuery },
      replies: { 200: typed('text/html', 'HTML.') },
      entityTag: true,
      handler: (_request) => ({ status: 200, prepared: (prepared ??= makeAuditPage(eventTypes)) }),
    }),
  ];
}

/** What the routes of the history need. */
export interface AuditHistorySource {
  readonly log: Pick<AuditLog, 'readSigned' | 'status'>;
  readonly reader: AuditReader;
}

const tag = 'Audit log';

/** Makes the routes by which auditors read the history (src/areas/audit/README.md#history-for-auditors). */
export function makeAuditEventRoutes({
  log,
  reader,
  auditNames,
}: AuditHistorySource & { readonly auditNames: AuditNameReader }): readonly Route[] {
  const route = routesOf({ tag });
  return [
    route('listAuditEvents', 'GET /audit/events', {
      summary: 'Events of the audit log, newest first',
      description:
        'Each event under the signed checkpoint stands beside one sentence that tells it. A page may have fewer items than `limit`, even none, and still a `next_cursor`: the search has a bound, and continues there.',
      request: { query: auditEventsQuery.extend({ project: z.uuid().toLowerCase().optional() }) },
      replies: { 200: json('A page of events.', pageOf(auditEventResource)) },
      errors: ['nothing_signed'],
      handler: async ({ query: { project, ...query } }) => {
        const search = searchOf(query);
        const terms = { ...search.terms, ...(project === undefined ? {} : { project }) };
        return ok(pageOfEvents(await reader.events({ ...search, terms }, await readShownSize(log))));
      },
    }),
    route('getAuditStream', 'GET /audit/streams/:stream', {
      summary: "A stream's documents as they stood at an event or a time",
      description:
        'The fold of the stream’s events up to then, for each of its views; without `as_of`, up to the end of the signed log. 404 when the stream did not exist then, and for an index at or beyond the signed size.',
      request: {
        params: z.object({ stream: z.string() }),
        query: z.object({ as_of: momentQuery.optional() }),
      },
      replies: { 200: json('The documents.', auditStreamResource) },
      errors: ['nothing_signed'],
      handler: async ({ params: { stream }, query: { as_of: asOf } }) => {
        const size = await readShownSize(log);
        const at = asOf ?? { index: size - 1 };
        if ('index' in at && at.index >= size)
          throw new HttpError('not_found', `the index must be below ${size}`);
        return ok((await reader.streamAsOf(stream, at, size)) ?? missing('the stream did not exist then'));
      },
    }),
    route('listAuditNames', 'GET /audit/names', {
      summary: 'What people call the users, projects and shares of some streams',
      description:
        'The present names, never an address. No leaf covers them. What has no name is left out, such as a share without a title.',
      request: { query: z.object({ streams: namedStreamsQuery }) },
      replies: { 200: json('The names.', z.strictObject({ items: z.array(auditNameResource) })) },
      handler: async ({ query: { streams } }) => ok({ items: await auditNames.names(streams) }),
    }),
  ];
}

/**
 * Returns the number of events that may be shown: the signed ones. While the log contradicts what was signed, it may be
 * shorter; then those that it still has. @throws HttpError 503 while nothing is signed
 */
export async function readShownSize(log: AuditHistorySource['log']): Promise<number> {
  const { size } = await readSignedLog(log);
  const { contradiction, log: sequenced } = log.status();
  return contradiction === null || sequenced === null ? size : Math.min(size, sequenced.size);
}
