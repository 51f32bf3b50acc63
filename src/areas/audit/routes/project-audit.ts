import { z } from 'zod';
import { auditEventResource } from '../../../../projections/audit/resource.js';
import { pageOf } from '../../../../projections/paging.js';
import { auditEventsQuery, indexPattern, pageOfEvents, proofText, searchOf } from './audit-query.js';
import { contentTag } from '../../../http/replies/reply.js';
import { HttpError } from '../../../http/replies/error-codes.js';
import { type Route, json, ok, routesOf, typed } from '../../../http/route.js';
import { type AuditHistorySource, readShownSize } from './audit-events.js';
import { auditProof, type AuditSource } from './audit-log.js';
import { projectParams } from '../../projects/routes/projects.js';

const tag = 'Audit log';
const path = '/api/v1/projects/:projectId/audit';

/** Makes the routes of a project's part of the audit log (src/areas/audit/README.md#history-for-auditors). */
export function makeProjectAuditRoutes({
  log,
  tree,
  reader,
}: AuditHistorySource & Pick<AuditSource, 'log' | 'tree'>): readonly Route[] {
  const route = routesOf({ tag: tag, path, params: projectParams });
  return [
    route('listProjectAuditEvents', 'GET /events', {
      summary: 'Events of the project, newest first',
      description:
        'The events of the project, its storages, assets, shares and orders, as `GET /audit/events` shows them. A page may be short and still have a `next_cursor`.',
      request: { query: auditEventsQuery },
      replies: { 200: json('A page of events.', pageOf(auditEventResource)) },
      errors: ['nothing_signed'],
      handler: async ({ params: { projectId: project }, query }) => {
        const search = searchOf(query);
        const terms = { ...search.terms, project };
        return ok(pageOfEvents(await reader.events({ ...search, terms }, await readShownSize(log))));
      },
    }),
    route('getProjectAuditProof', 'GET /proof', {
      summary: 'The proof that an event of the project is under the signed checkpoint',
      description:
        'C2SP tlog-proof, with the newest checkpoint and its cosignatures. 404 for an event that is not of the project.',
      request: {
        query: z.object({
          index: z.string().regex(indexPattern, 'must be the index of an event').transform(Number),
        }),
      },
      replies: { 200: typed('text/plain', 'The proof.', proofText) },
      errors: ['nothing_signed'],
      handler: async ({ params: { projectId }, query: { index } }) => {
        const size = await readShownSize(log);
        const project = index < size ? await reader.projectAt(index, size) : null;
        // One reply for both, so that the indexes of other projects stay unknown.
        if (project !== projectId)
          throw new HttpError('not_found', 'the project has no signed event with this index');
        const proof = await auditProof({ log, tree }, index);
        return { status: 200, prepared: { bytes: Buffer.from(proof), tag: contentTag(proof) } };
      },
    }),
  ];
}
