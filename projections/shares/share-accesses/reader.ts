import type { ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import { type CreationPage, firstIdOf, lastIdOf, matchingPage, pageFrom } from '../../filtered-page.js';
import { type ShareAccessDocument, shareAccessesProjection } from './projection.js';
import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';

/** One opening of a share (src/areas/shares/README.md#share-verification). */
export const shareAccessResource = namedObject('ShareAccess', {
  id: entityId,
  at: instant,
  downloads: z.int().describe('How many assets the visitor saved by the page, each once.'),
  client_ip_digest: z
    .string()
    .nullable()
    .describe("Keyed digest of the visitor's address: the same address, the same digest. Null: not known."),
});

/** What a list of accesses selects. */
interface ShareAccessFilter {
  readonly opened_after?: string | undefined;
  readonly opened_before?: string | undefined;
  /** Whether the visitor saved an asset. */
  readonly downloaded?: boolean | undefined;
}

/** @throws StoreUnavailable */
export type ShareAccessReader = ReturnType<typeof makeShareAccessReader>;

export function makeShareAccessReader({ views }: { readonly views: Views }) {
  const accesses = views.of(shareAccessesProjection);
  return {
    /** Returns a page of the accesses of a share of the project, revoked or not. */
    page: async (
      { projectId, shareId }: { readonly projectId: string; readonly shareId: string },
      { descending, ...page }: CreationPage,
      { downloaded, ...period }: ShareAccessFilter,
    ) => {
      const where = { field: 'share_id', equals: shareId };
      const { start, isPast } = boundsOf(period, descending);
      const { items, next } = await matchingPage<ViewDocument<ShareAccessDocument>>(page, {
        read: ({ limit, after = start }) => accesses.find({ where, descending, ...pageFrom(after, limit) }),
        positionOf: ({ id }) => id,
        isPast: ({ id }) => isPast(id),
        matches: downloaded === undefined ? null : ({ body: { downloads } }) => downloads > 0 === downloaded,
      });
      // All accesses of a share belong to one project, so the filter keeps all of them or none.
      const shown = items
        .filter(({ body }) => body.project_id === projectId)
        .map(({ id, body: { at, client_ip_digest, downloads } }) => ({
          id,
          at,
          client_ip_digest,
          downloads,
        }));
      return { items: shown, next: shown.length === items.length ? next : null };
    },
  };
}

/** Returns the ids between which a period lies: an access has an id of its time. */
function boundsOf(
  { opened_after: from, opened_before: to }: Omit<ShareAccessFilter, 'downloaded'>,
  descending: boolean,
): { readonly start: string | undefined; readonly isPast: (id: string) => boolean } {
  const first = from === undefined ? undefined : lastIdOf(new Date(from));
  const end = to === undefined ? undefined : firstIdOf(new Date(to));
  return descending
    ? { start: end, isPast: (id) => first !== undefined && id <= first }
    : { start: first, isPast: (id) => end !== undefined && id >= end };
}
