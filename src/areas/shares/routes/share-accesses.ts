import type { ShareDeps } from '../deps.js';
import { z } from 'zod';
import { creationQuery, pageOf, readCreationPage } from '../../../../projections/paging.js';
import { shareAccessResource } from '../../../../projections/shares/share-accesses/reader.js';
import { noBody } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { missingShare, shareParams, sharePath } from './shares.js';

const accessQuery = creationQuery.extend({
  opened_after: z.iso.datetime({ offset: true }).optional(),
  opened_before: z.iso.datetime({ offset: true }).optional(),
  downloaded: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Whether the visitor saved an asset.' }),
});

/** Makes the route by which members see when a share was opened (src/areas/shares/README.md#share-verification). */
export function makeShareAccessRoutes({
  shares,
  shareAccesses,
}: Pick<ShareDeps, 'shares' | 'shareAccesses'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${sharePath}/accesses`,
      name: 'listShareAccesses',
      tag: 'Shares',
      summary: 'When a share was opened, newest first',
      description: 'Also of a share that was revoked, if it was ever opened.',
      request: { params: shareParams, query: accessQuery, body: noBody },
      replies: { 200: { description: 'A page of accesses.', schema: pageOf(shareAccessResource) } },
      handler: async ({ params, query: { limit, cursor, sort, downloaded, ...period } }) => {
        const filter = {
          ...period,
          downloaded: downloaded === undefined ? undefined : downloaded === 'true',
        };
        const body = await readCreationPage({ limit, cursor, sort }, (page) =>
          shareAccesses.page(params, page, filter),
        );
        const { projectId, shareId } = params;
        if (body.items.length === 0 && (await shares.find(projectId, shareId)) === null) {
          // A share that was revoked is not found, but it may have accesses outside the filter.
          const all = { limit: 1, descending: true };
          if ((await shareAccesses.page(params, all, {})).items.length === 0) throw missingShare();
        }
        return { status: 200, body };
      },
    }),
  ];
}
