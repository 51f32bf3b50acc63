import {
  type FoundDocument,
  type Page,
  toViewDocument,
  type Versioned,
  type ViewDocument,
  type Views,
} from '../../../src/event-sourcing/views/views.js';
import { z } from 'zod';
import { sameTag } from '../../../src/areas/assets/domain/asset/fold.js';
import { remainingUses } from '../../../src/areas/shares/domain/share/fold.js';
import { erased, type Sealer } from '../../../src/keys/sealing/sealer.js';
import { shareDownloadsTally, shareViewsTally } from '../share-accesses/projection.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { assetsOf } from '../../assets/assets/projection.js';
import { type ShareDocument, sharesProjection } from './projection.js';
import { type CreationPage, filteredPage } from '../../filtered-page.js';
import { shareResource, type ShareResource } from './resource.js';

/** Whether a share opens: it has not expired, and its uses are not used up. */
export const shareState = z.enum(['open', 'expired', 'used_up']);

/** What a list of shares selects. */
interface ShareFilter {
  /** Only shares of this asset, without those of a tag. */
  readonly assetId?: string | undefined;
  /** Only shares of this tag; capitals do not count. */
  readonly tag?: string | undefined;
  readonly state?: z.output<typeof shareState> | undefined;
}

function stateOf(share: ShareDocument, now: Date): z.output<typeof shareState> {
  if (share.expires_at !== null && Date.parse(share.expires_at) <= now.getTime()) return 'expired';
  return remainingUses(share) === 0 ? 'used_up' : 'open';
}

/** @throws StoreUnavailable; errors of `Sealer.open` */
export type ShareReader = ReturnType<typeof makeShareReader>;

/** Facts of other streams about some shares. */
interface Facts {
  readonly problems: ReadonlyMap<string, NonNullable<ShareResource['problem']>>;
  readonly views: ReadonlyMap<string, bigint>;
  readonly downloads: ReadonlyMap<string, bigint>;
}

/** @param urlTemplate `SHARE_URL_TEMPLATE`, with `{token}` */
export function makeShareReader(deps: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly urlTemplate: string;
}) {
  const { views, sealer, urlTemplate } = deps;
  const shares = views.of(sharesProjection);
  const assets = assetsOf(views);
  const openings = views.totalsOf(shareViewsTally);
  const saves = views.totalsOf(shareDownloadsTally);
  return {
    wanted: (id: string) => ({ projection: sharesProjection, id }),
    /** Returns null if the project does not have the share. @param found see `View.get` */
    find: async (projectId: string, shareId: string, found?: FoundDocument) => {
      const document = await shares.get(shareId, found);
      return document?.body.project_id === projectId ? presentOne(document) : null;
    },
    /** Returns a page of the project's shares that are not revoked. */
    page: async (
      projectId: string,
      page: CreationPage,
      { assetId, tag, state, now }: ShareFilter & { readonly now: Date },
    ) => {
      const where =
        assetId === undefined
          ? { field: 'project_id', equals: projectId }
          : { field: 'asset_ids', equals: assetId };
      let own = 0;
      const matches = ({ body }: ViewDocument<ShareDocument>): boolean => {
        if (body.project_id !== projectId) return false;
        own += 1;
        return (
          (tag === undefined || (body.tag !== null && sameTag(body.tag) === sameTag(tag))) &&
          (state === undefined || stateOf(body, now) === state)
        );
      };
      const isFiltered = assetId !== undefined || tag !== undefined || state !== undefined;
      const { items: documents, next } = await filteredPage(
        shares,
        { where, ...page },
        isFiltered ? matches : null,
      );
      // An asset belongs to one project, and so do its shares. A cursor would tell the id of a share of another project.
      if (isFiltered && own === 0) return { items: [], next: null };
      const facts = await factsOf(documents);
      const presented = await Promise.all(documents.map((document) => present(document, facts)));
      const items = presented.flatMap((share) => (share === null ? [] : [share.resource]));
      return { items, next };
    },
    /** Returns the share after a command; null if it has been revoked meanwhile. */
    after: async (documents: DocumentsAfter) => {
      const document = toViewDocument<ShareDocument>(documents.get(sharesProjection.name) ?? null);
      return document === null ? null : presentOne(document);
    },
    /** Returns the remaining uses after a command; null if uses are not limited. */
    remainingUses: (documents: DocumentsAfter) =>
      remainingUses(documentAfter(sharesProjection, documents).body),
    /** Lists the ids of the shares of a project or of an asset that are not revoked. */
    ids: async (of: { readonly projectId: string } | { readonly assetId: string }, page: Page) => {
      const where =
        'projectId' in of
          ? { field: 'project_id', equals: of.projectId }
          : { field: 'asset_ids', equals: of.assetId };
      return (await shares.find({ where, ...page })).map(({ id }) => id);
    },
    /** Returns the id of the share whose token has the digest. */
    idByToken: async (tokenDigest: string) => {
      const where = { field: 'token_digest', equals: tokenDigest };
      const [found] = await shares.find({ where, limit: 1 });
      return found?.id ?? null;
    },
  };

  async function presentOne(document: ViewDocument<ShareDocument>): Promise<Versioned<ShareResource> | null> {
    return present(document, await factsOf([document]));
  }

  async function factsOf(documents: readonly ViewDocument<ShareDocument>[]): Promise<Facts> {
    const ids = documents.map(({ id }) => id);
    const [problems, opened, downloads] = await Promise.all([
      problemsOf(documents),
      openings.getMany(ids),
      saves.getMany(ids),
    ]);
    return { problems, views: opened, downloads };
  }

  /** Returns the problem of each asset whose upload is not complete, by the asset's id. */
  async function problemsOf(documents: readonly ViewDocument<ShareDocument>[]): Promise<Facts['problems']> {
    const ids = [...new Set(documents.flatMap(({ body }) => body.asset_ids))];
    const problems = new Map<string, NonNullable<ShareResource['problem']>>();
    for (const { id, body } of await assets.getMany(ids)) {
      if (body.upload !== 'complete') problems.set(id, `upload_${body.upload}`);
    }
    return problems;
  }

  /** Returns null if the share's key is destroyed: the share is revoked, and the view is stale. */
  async function present(
    { id, revision, body }: ViewDocument<ShareDocument>,
    { problems, ...totals }: Facts,
  ): Promise<Versioned<ShareResource> | null> {
    const scope = { kind: 'share', projectId: body.project_id, shareId: id } as const;
    const [token, title, note] = await Promise.all([
      sealer.open(scope, 'token', body.token),
      body.title === null ? null : sealer.open(scope, 'title', body.title),
      body.note === null ? null : sealer.open(scope, 'note', body.note),
    ]);
    if (token === erased || title === erased || note === erased) return null;
    const url = urlTemplate.replace('{token}', token);
    const problem =
      body.asset_ids.map((asset) => problems.get(asset)).find((found) => found !== undefined) ?? null;
    const countOf = (counts: ReadonlyMap<string, bigint>) => Number(counts.get(id) ?? 0n);
    const shown = { problem, views: countOf(totals.views), downloads: countOf(totals.downloads) };
    const computed = { asset_id: body.asset_ids[0] ?? null, ...shown, remaining_uses: remainingUses(body) };
    const fields = { ...body, title, note, token, url, ...computed };
    return { revision, resource: resourceOf(shareResource, { id, ...fields }) };
  }
}
