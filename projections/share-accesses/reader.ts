import type { Page, Views } from '../../src/event-sourcing/views/views.js';
import { shareAccessesProjection } from './projection.js';
import type { ShareAccessResource } from './resource.js';

export type { ShareAccessResource } from './resource.js';

/** @throws StoreUnavailable */
export interface ShareAccessReader {
  /** Lists the accesses of a share of the project, revoked or not, newest first. */
  list(
    share: { readonly projectId: string; readonly shareId: string },
    page: Page,
  ): Promise<readonly ShareAccessResource[]>;
}

export function makeShareAccessReader({ views }: { readonly views: Views }): ShareAccessReader {
  const accesses = views.of(shareAccessesProjection);
  return {
    list: async ({ projectId, shareId }, page) => {
      const where = { field: 'share_id', equals: shareId };
      const documents = await accesses.find({ where, descending: true, ...page });
      // All accesses of a share belong to one project, so the filter keeps all of them or none.
      return documents
        .filter(({ body }) => body.project_id === projectId)
        .map(({ id, body: { at, client_ip_digest, downloads } }) => ({
          id,
          at,
          client_ip_digest,
          downloads,
        }));
    },
  };
}
