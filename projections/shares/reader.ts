import {
  type Page,
  toViewDocument,
  type Versioned,
  type ViewDocument,
  type Views,
} from '../../src/event-sourcing/views/views.js';
import { remainingUses } from '../../src/domain/share/status.js';
import { erased, type Sealer } from '../../src/keys/sealer.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type ShareDocument, sharesProjection } from './projection.js';
import { resourceOf } from '../resource-of.js';
import { shareResource, type ShareResource } from './resource.js';

export type { ShareResource } from './resource.js';

/** @throws StoreUnavailable; errors of `Sealer.open` */
export interface ShareReader {
  /** Returns null if the project does not have the share. */
  find(projectId: string, shareId: string): Promise<Versioned<ShareResource> | null>;
  /** Lists the project's shares that are not revoked, newest first. */
  list(projectId: string, page: Page): Promise<readonly Versioned<ShareResource>[]>;
  /** Returns the share after a command; null if it has been revoked meanwhile. */
  after(documents: DocumentsAfter): Promise<Versioned<ShareResource> | null>;
  /** Returns the remaining uses after a command; null if uses are not limited. */
  remainingUses(documents: DocumentsAfter): number | null;
  /** Lists the ids of the shares of a project or of an asset that are not revoked. */
  ids(
    of: { readonly projectId: string } | { readonly assetId: string },
    page: Page,
  ): Promise<readonly string[]>;
  /** Returns the id of the share whose token has the digest. */
  idByToken(tokenDigest: string): Promise<string | null>;
}

/** @param urlTemplate `SHARE_URL_TEMPLATE`, with `{token}` */
export function makeShareReader({
  views,
  sealer,
  urlTemplate,
}: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly urlTemplate: string;
}): ShareReader {
  const shares = views.of(sharesProjection);
  return {
    find: async (projectId, shareId) => {
      const document = await shares.get(shareId);
      return document?.body.project_id === projectId ? present(document) : null;
    },
    list: async (projectId, page) => {
      const where = { field: 'project_id', equals: projectId };
      const documents = await shares.find({ where, descending: true, ...page });
      const presented = await Promise.all(documents.map(present));
      return presented.filter((share) => share !== null);
    },
    after: async (documents) => {
      const document = toViewDocument<ShareDocument>(documents.get(sharesProjection.name) ?? null);
      return document === null ? null : present(document);
    },
    remainingUses: (documents) => remainingUses(documentAfter(sharesProjection, documents).body),
    ids: async (of, page) => {
      const where =
        'projectId' in of
          ? { field: 'project_id', equals: of.projectId }
          : { field: 'asset_id', equals: of.assetId };
      return (await shares.find({ where, ...page })).map(({ id }) => id);
    },
    idByToken: async (tokenDigest) => {
      const where = { field: 'token_digest', equals: tokenDigest };
      const [found] = await shares.find({ where, limit: 1 });
      return found?.id ?? null;
    },
  };

  /** Returns null if the share's key is destroyed: the share is revoked, and the view is stale. */
  async function present({
    id,
    revision,
    body,
  }: ViewDocument<ShareDocument>): Promise<Versioned<ShareResource> | null> {
    const scope = { kind: 'share', projectId: body.project_id, shareId: id } as const;
    const token = await sealer.open(scope, 'token', body.token);
    if (token === erased) return null;
    const url = urlTemplate.replace('{token}', token);
    const fields = { ...body, token, url, remaining_uses: remainingUses(body) };
    return { revision, resource: resourceOf(shareResource, { id, ...fields }) };
  }
}
