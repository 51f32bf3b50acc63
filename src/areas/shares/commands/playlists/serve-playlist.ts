import mime from 'mime';
import { makeKeyedSemaphore, makeSemaphore } from '../../../../kit/semaphore.js';
import { assetAggregate } from '../../../assets/domain/asset/asset.js';
import { playlistBytesMax } from '../../../assets/domain/playlist.js';
import { assetNotFound, rejectAsset } from '../../../assets/domain/asset/rejections.js';
import { hlsKind } from '../../../assets/domain/asset/renditions.js';
import { isExpired, shareAggregate } from '../../domain/share/share.js';
import { shareNotFound } from '../../domain/share/rejections.js';
import { wholeKey } from '../../../storages/domain/bucket/bucket.js';
import type { ReadAnswer } from '../../../storages/bucket/objects/head-object.js';
import type { PlaylistGrant } from '../../../../keys/codes/mac-tokens.js';
import type { ShareDeps } from '../../deps.js';
import { makeKeptPlaylists, type PlaylistBody, signPlaylist, writePlaylist } from './kept-playlists.js';
import type { Visits } from '../visiting/visits.js';
import type { OpenedStorage } from '../../../storages/commands/open-storage.js';
import { makeOpenAssetStorage } from '../../../assets/commands/add-asset.js';
import { isOfPlaylist, lifeOf, makePlaylistUrl } from '../../../assets/commands/media-links.js';

interface ServedPlaylist extends PlaylistBody {
  /** Seconds for which a player may keep it: it ends before its URLs. */
  readonly maxAgeSeconds: number;
}

/** Playlists that a process signs at once, because each takes some megabytes, and those of one payer. */
const [atOnce, ofPayerAtOnce] = [8, 2];
const maxAgeSeconds = 300;

/**
 * Reads a playlist from the bucket and signs the URLs in it (src/areas/assets/README.md#playlists). A visitor gets it while the share is
 * open. No URL outlives the end of the share.
 * @throws CommandRejected share_not_found for a token that opens nothing, asset_not_found, asset_storage_unusable,
 * playlist_not_served, bucket_refused, bucket_unavailable; Overloaded while 40 requests wait for playlists of the payer
 */
export function makeServePlaylist(deps: ShareDeps & Pick<Visits, 'findSharedAssets'>) {
  const { clock, handler, readObject, playlistTokens, findSharedAssets } = deps;
  const playlistUrl = makePlaylistUrl(deps);
  const openAssetStorage = makeOpenAssetStorage(deps);
  const kept = makeKeptPlaylists(clock);
  const places = makeSemaphore(atOnce);
  const placesOfPayers = makeKeyedSemaphore({ permits: ofPayerAtOnce, waitingMax: Infinity });
  return async (token: string): Promise<ServedPlaylist> => {
    const now = clock.now();
    const grant = playlistTokens.verify(token, now);
    if (grant === null) return shareNotFound();
    const { asset, until } = await findGranted(grant, now);
    const root = asset.renditions.find(({ kind }) => kind === hlsKind);
    if (root === undefined || !isOfPlaylist(grant.objectKey, root.object_key)) return assetNotFound();
    const opened = await openAssetStorage(asset);
    const { signedAt, endsAt } = lifeOf(now, until);
    const payer = (await opened.urls.account?.()) ?? asset.storage_id;
    const urlOf = (objectKey: string): string =>
      opened.urls.mediaUrl({
        key: wholeKey(opened.storage.configuration.base_path, objectKey),
        query: { 'response-content-type': typeOf(objectKey) },
        signedAt,
        expiresInSeconds: (endsAt.getTime() - signedAt.getTime()) / 1_000,
      });
    // The URL of the playlist's own object is equal exactly as long as those in it are.
    const place = { payer, same: `${grant.assetId} ${urlOf(grant.objectKey)}` };
    const playlist = await kept.get(place, async () => {
      const bytes = await read(opened, grant);
      const urls = { of: urlOf, elements: opened.urls.mediaUrlElements };
      const sign = () => places.run(() => signPlaylist(bytes, grant.objectKey, urls));
      return placesOfPayers.run(payer, sign);
    });
    const body = await writePlaylist(playlist, (objectKey) => playlistUrl({ ...grant, objectKey }));
    const leftSeconds = Math.floor((endsAt.getTime() - now.getTime()) / 1_000) - 60;
    const wanted = playlist.isEnded ? maxAgeSeconds : 1;
    return { ...body, maxAgeSeconds: Math.max(0, Math.min(wanted, leftSeconds)) };
  };

  /** Returns the asset, and the end of what shows it: of the share, or of a member's URL, since who leaves keeps the URL. */
  async function findGranted({ assetId, share, endsAt }: PlaylistGrant, now: Date) {
    if (share === null) {
      const { state } = await handler.load(assetAggregate, assetId);
      return state.status === 'existing' ? { asset: state, until: endsAt } : assetNotFound();
    }
    const { state } = await handler.load(shareAggregate, share.shareId);
    const stands =
      state.status === 'open' &&
      state.password_generation === share.passwordGeneration &&
      !isExpired(state, now);
    if (!stands) return shareNotFound();
    const shared = await findSharedAssets(state, assetId);
    const found = shared?.served[0];
    if (found === undefined) return shareNotFound();
    return { asset: found.asset, until: state.expires_at === null ? null : new Date(state.expires_at) };
  }

  async function read({ storage, urls }: OpenedStorage, { objectKey }: PlaylistGrant): Promise<Buffer> {
    const key = wholeKey(storage.configuration.base_path, objectKey);
    return bodyOf(await readObject({ urls, key, bytesMax: playlistBytesMax }));
  }
}

function bodyOf(answer: ReadAnswer): Buffer {
  switch (answer) {
    case 'missing':
      return assetNotFound();
    case 'too_large':
      return rejectAsset('playlist_not_served', 'the playlist is larger than 1 MiB');
    case 'refused':
      return rejectAsset('bucket_refused', 'the bucket refused to read the playlist; test the storage');
    case 'away':
      return rejectAsset('bucket_unavailable', 'the bucket did not answer, or reported an error; try again');
    default:
      return answer.body;
  }
}

/** A browser must not run what a playlist names, so only types of media have their name. */
function typeOf(objectKey: string): string {
  const type = mime.getType(objectKey) ?? '';
  return /^(?:audio|video)\/|^text\/vtt$/.test(type) ? type : 'application/octet-stream';
}
