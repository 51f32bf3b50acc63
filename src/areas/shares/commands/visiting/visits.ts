import { isRecent } from '../../../../kit/time/clock.js';
import type { ShareDeps } from '../../deps.js';
import { assetAggregate } from '../../../assets/domain/asset/asset.js';
import type { AssetDescription } from '../../../assets/domain/asset/events.js';
import { sameTag } from '../../../assets/domain/asset/fold.js';
import { sharedAssetsMax } from '../../domain/share/events.js';
import { type ShareEnding, rejectShare, shareNotFound } from '../../domain/share/rejections.js';
import {
  type OpenShare,
  endingOf,
  isExpired,
  isProtected,
  isUsable,
  isUsableBy,
  shareAggregate,
  untilEnd,
} from '../../domain/share/share.js';
import { type ExistingProject, projectAggregate } from '../../../projects/domain/project/project.js';
import type { StorageState } from '../../../storages/domain/storage/fold.js';
import { storageAggregate } from '../../../storages/domain/storage/storage.js';
import { digestShareToken } from '../../../../keys/codes/mac-tokens.js';
import type { KnownDevice } from '../../../../security/guessing/guard.js';
import { nilId } from '../../../../validation/fields.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import { loadOfNew } from '../../../../event-sourcing/deciding/command-handler.js';
import { type ShareAccessCommand, shareAccessAggregate } from '../../domain/share-access/share-access.js';

type Recorded = Extract<ShareAccessCommand, { type: 'Record' }>;
type Downloaded = Extract<ShareAccessCommand, { type: 'RecordDownload' }>;

export type Accesses = ReturnType<typeof makeAccesses>;

/** The time that the request has to record the access itself, with more details. */
const requestMs = 15_000;

/** Makes what records the accesses of shares, each in a separate stream. A repetition changes nothing. All throw StoreUnavailable. */
export function makeAccesses({ handler, clock }: ShareDeps) {
  return {
    recordAccess,
    /** Records that the visitor saves a file of an asset. */
    recordDownload: async (accessId: string, download: Omit<Downloaded, 'type'>, context: CommandContext) => {
      const command = { type: 'RecordDownload', ...download } as const;
      await handler.handle(shareAccessAggregate.at(accessId), command, context);
    },
    /** Records an access that a share counted, after a crash of the request that counted it. */
    recordCountedAccesses: on(shareAggregate, ['ShareUsed'], {
      name: 'record-share-accesses',
      isDue: async (_, { data, recordedAt }) => {
        const { state } = await handler.load(shareAccessAggregate, data.access_id);
        if (state.recorded) return 'no';
        return isRecent(recordedAt, requestMs, clock.now()) ? 'not-yet' : 'yes';
      },
      run: async (share_id, context, { data }) => {
        const { state } = await handler.load(shareAggregate, share_id);
        if (state.status === 'absent') return;
        const { project_id } = state;
        await recordAccess(data.access_id, { share_id, project_id, client_ip_digest: null }, context);
      },
    }),
  };

  /** Records an opening. */
  async function recordAccess(accessId: string, access: Omit<Recorded, 'type'>, context: CommandContext) {
    const command = { type: 'Record', ...access } as const;
    await handler.handle(shareAccessAggregate.at(accessId), command, context, loadOfNew(context));
  }
}

type SharedAsset = { readonly assetId: string; readonly asset: AssetDescription };

/** The assets of a share that are served now, at least one. */
interface SharedAssets {
  readonly project: ExistingProject;
  readonly served: readonly [SharedAsset, ...SharedAsset[]];
}

/** A share that a visitor may open, with the assets that it shows. */
export interface VisitedShare {
  readonly shareId: string;
  readonly share: OpenShare;
  readonly shared: SharedAssets;
}

/** A share that a visitor has opened. */
export interface SessionShare extends VisitedShare {
  /** See `ShareSession`. */
  readonly accessId: string;
  readonly endsAt: Date;
}

interface Visit {
  readonly token: string;
  /** Of an earlier visit, which may have ended. */
  readonly session: string | undefined;
}

export type Visits = ReturnType<typeof makeVisits>;

/** Every session ends after it. */
const whenever = new Date(0);

type Deps = Pick<ShareDeps, 'handler' | 'digests' | 'clock' | 'shares' | 'assets' | 'shareSessions'>;

/** Makes what finds the share of a visitor (src/areas/shares/README.md#share-verification). All throw StoreUnavailable. */
export function makeVisits({ handler, digests, clock, shares, assets, shareSessions }: Deps) {
  return {
    findSharedAssets,
    findVisitedShare,
    /**
     * Finds the share of a session that has not ended.
     * @throws CommandRejected share_password_wrong where the session is over, share_not_found where nothing is served
     */
    findShareOfSession: async (
      { token, session }: { readonly token: string; readonly session: string },
      now: Date,
    ): Promise<SessionShare> => {
      const given = shareSessions.verify(session, now);
      if (given === null) return over();
      const { state: share } = await handler.load(shareAggregate, given.shareId);
      const stands =
        share.status === 'open' &&
        share.password_generation === given.passwordGeneration &&
        isOf(token, share) &&
        // The share may have got an earlier end since.
        !isExpired(share, now);
      if (!stands) return over();
      const shared = await findSharedAssets(share);
      if (shared === null) return shareNotFound();
      const { shareId, accessId } = given;
      return { shareId, accessId, share, shared, endsAt: untilEnd(share, given.endsAt) };
    },
    /**
     * Returns the visitor who once opened the share with its present password, by a session of then; null: a stranger. A text that
     * is no session of this service reads nothing.
     */
    visitorOf: async (visit: Visit): Promise<KnownDevice | null> => {
      const found = await shareOf(visit);
      if (found === null) return null;
      const { given, share } = found;
      const stands = share.status === 'open' && share.password_generation === given.passwordGeneration;
      return stands ? { id: given.accessId, of: given.shareId } : null;
    },
    /** Returns why a share opens no more, for a visitor who once opened it; null for a stranger, who must not learn it. */
    endingFor: async (visit: Visit, now: Date): Promise<ShareEnding | null> => {
      const found = await shareOf(visit);
      return found === null ? null : endingOf(found.share, now);
    },
    /**
     * Describes what a token opens, before the password. `limited_uses`: opening it counts.
     * @throws CommandRejected share_not_found in the cases in which verification is 404
     */
    describeShared: async (token: string) => {
      const found = await findVisitedShare(token, null);
      if (found === null) return shareNotFound();
      const { share, shared } = found;
      const { name, accent_color } = shared.project;
      return {
        ...{ password_required: isProtected(share), limited_uses: share.max_uses !== null },
        project: { name, accent_color },
      };
    },
    /** Finds the origins that may frame the page of a token; none for a share that does not open. */
    findFraming: async (token: string): Promise<readonly string[]> =>
      (await findVisitedShare(token, null))?.share.frame_ancestors ?? [],
  };

  /**
   * Finds the share of a visitor's token; null for a share that does not open: unknown, expired, revoked, used up, or with
   * nothing to serve. Shares that are not open make the same store calls as an unknown token.
   * @param accessId the visitor's access, which an earlier attempt may have counted as the last use; null: there is none
   */
  async function findVisitedShare(token: string, accessId: string | null): Promise<VisitedShare | null> {
    const shareId = (await shares.idByToken(digestShareToken(digests, token))) ?? nilId;
    const { state } = await handler.load(shareAggregate, shareId);
    const now = clock.now();
    const opens =
      state.status === 'open' &&
      (accessId === null ? isUsable(state, now) : isUsableBy(state, accessId, now));
    const shared = await findSharedAssets(opens ? state : null);
    return opens && shared !== null ? { shareId, share: state, shared } : null;
  }

  /**
   * Finds the assets of a share that are served, of a tag the newest 50: not removed, uploaded, and in a storage that is neither disabled nor
   * deleted. Null where there is none, where the project is deleted, and for a share without a password where the project does not allow
   * it. Without a share it makes the store calls of a share with one asset, so the reply time does not tell the cases apart.
   * @param only one asset of the share, where the others do not matter; of a tag it may be an older one
   */
  async function findSharedAssets(share: OpenShare | null, only?: string): Promise<SharedAssets | null> {
    const ids = share === null ? [nilId] : only === undefined ? await idsOf(share) : idsWith(share, only);
    const [project, ...found] = await Promise.all([
      handler.load(projectAggregate, share?.project_id ?? nilId),
      ...ids.map((assetId) => served(assetId, share)),
    ]);
    if (share === null || project.state.status !== 'existing') return null;
    if (!isProtected(share) && !project.state.open_shares) return null;
    const [first, ...others] = found.filter((asset) => asset !== null);
    return first === undefined ? null : { project: project.state, served: [first, ...others] };
  }

  /** The view finds the assets of a tag. An asset that has just got the tag may be missing for a moment. */
  async function idsOf({ project_id, asset_ids, tag }: OpenShare): Promise<readonly string[]> {
    if (tag === null) return asset_ids;
    const filter = { tag, upload: 'complete' } as const;
    const { items } = await assets.list(project_id, { filter, sort: '-created_at', limit: sharedAssetsMax });
    return items.map(({ id }) => id);
  }

  async function served(
    assetId: string,
    share: Pick<OpenShare, 'project_id' | 'tag'> | null,
  ): Promise<SharedAsset | null> {
    const { state: asset } = await handler.load(assetAggregate, assetId);
    const storageId = asset.status === 'existing' ? asset.storage_id : nilId;
    const { state: storage } = await handler.load(storageAggregate, storageId);
    if (asset.status !== 'existing' || asset.project_id !== share?.project_id) return null;
    // The stream decides, so an asset that has lost the tag is out at once.
    if (share.tag !== null && !hasTag(asset, share.tag)) return null;
    return asset.upload === 'complete' && !servesNothing.has(storage.status) ? { assetId, asset } : null;
  }

  /** Returns the share of a session, if it is the share of the token. */
  async function shareOf({ token, session = '' }: Visit) {
    const given = shareSessions.verify(session, whenever);
    if (given === null) return null;
    const { state: share } = await handler.load(shareAggregate, given.shareId);
    return share.status !== 'absent' && isOf(token, share) ? { given, share } : null;
  }

  function isOf(token: string, { token_digest }: Pick<OpenShare, 'token_digest'>): boolean {
    return token_digest === digestShareToken(digests, token);
  }
}

function idsWith({ asset_ids, tag }: OpenShare, only: string): readonly string[] {
  return tag !== null || asset_ids.includes(only) ? [only] : [];
}

function hasTag({ tags }: Pick<AssetDescription, 'tags'>, tag: string): boolean {
  return tags.some((one) => sameTag(one) === sameTag(tag));
}

const servesNothing: ReadonlySet<StorageState['status']> = new Set(['absent', 'deleted', 'disabled']);

function over(): never {
  return rejectShare('share_password_wrong', 'the session is over; open the share again');
}
