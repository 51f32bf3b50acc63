import {
  type Page,
  toViewDocument,
  type Versioned,
  type ViewDocument,
  type Views,
} from '../../src/event-sourcing/views.js';
import { erased, type Sealer } from '../../src/keys/sealer.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type ShareDocument, sharesProjection } from './projection.js';

/** A share as members see it (DESIGN 4.4). */
export type ShareResource = {
  readonly id: string;
  readonly project_id: string;
  readonly asset_id: string;
  readonly token: string;
  /** Where people open it. */
  readonly url: string;
  /** Null: never. */
  readonly expires_at: string | null;
  readonly max_uses: number | null;
  /** Null where uses are not limited. */
  readonly remaining_uses: number | null;
  readonly allow_download: boolean;
  /** When wrong passwords were last told to have slowed it down. */
  readonly throttled_at: string | null;
  /** The id of a user; null where a key created it. */
  readonly created_by: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

/** @throws StoreUnavailable; what `Sealer.open` throws */
export interface ShareReader {
  /** Null when the project has no such share. */
  find(projectId: string, shareId: string): Promise<Versioned<ShareResource> | null>;
  /** The project's shares, newest first; those that were revoked are gone. */
  list(projectId: string, page: Page): Promise<readonly Versioned<ShareResource>[]>;
  /** The share as a command left it; null where it has been revoked by now. */
  after(documents: DocumentsAfter): Promise<Versioned<ShareResource> | null>;
  /** How often it still opens as a command left it; null where uses are not limited. */
  remainingUses(documents: DocumentsAfter): number | null;
  /** The ids of the shares of a project or of an asset; those that were revoked are gone. */
  ids(
    of: { readonly projectId: string } | { readonly assetId: string },
    page: Page,
  ): Promise<readonly string[]>;
  /** The id of the share whose token has the digest. */
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

  /** Null for a share whose key was destroyed a moment ago: it is being revoked. */
  async function present({
    id,
    revision,
    body,
  }: ViewDocument<ShareDocument>): Promise<Versioned<ShareResource> | null> {
    const { project_id, asset_id, expires_at, max_uses, allow_download, throttled_at } = body;
    const { created_by, created_at, updated_at } = body;
    const token = await sealer.open(
      { kind: 'share', projectId: project_id, shareId: id },
      'token',
      body.token,
    );
    if (token === erased) return null;
    const url = urlTemplate.replace('{token}', token);
    const resource = {
      ...{ id, project_id, asset_id, token, url, expires_at, max_uses },
      ...{ remaining_uses: remainingUses(body), allow_download, throttled_at },
      ...{ created_by, created_at, updated_at },
    };
    return { revision, resource };
  }
}

function remainingUses({ max_uses, uses }: ShareDocument): number | null {
  return max_uses === null ? null : Math.max(0, max_uses - uses);
}
