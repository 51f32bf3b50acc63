import type { Page, Views } from '../../src/event-sourcing/views.js';
import { shareAccessesProjection } from './projection.js';

/** One time that a share's password was given and its media handed out (DESIGN 4.4). */
export type ShareAccessResource = {
  readonly id: string;
  readonly at: string;
  /** Keyed digest of the visitor's address: the same visitor, the same digest. Null where it is not known any more. */
  readonly client_ip_digest: string | null;
};

/** @throws StoreUnavailable */
export interface ShareAccessReader {
  /** The accesses of a share of the project, newest first, also of one that was revoked. */
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
      // A share is of one project, so all of them are or none is.
      return documents
        .filter(({ body }) => body.project_id === projectId)
        .map(({ id, body: { at, client_ip_digest } }) => ({ id, at, client_ip_digest }));
    },
  };
}
