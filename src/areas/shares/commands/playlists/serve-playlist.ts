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
import { makeKeptPlaylists, signPlaylist, writePlaylist } from './kept-playlists.js';
import type { Visits } from '../visiting/visits.js';
import type { OpenedStorage } from '../../../storages/commands/open-storage.js';
import { makeOpenAssetStorage } from '../../../assets/commands/add-asset.js';
import { isOfPlaylist, lifeOf, makePlaylistUrl } from '../../../assets/commands/media-links.js';

interface ServedPlaylist {
  readonly text: string;
  /** Seconds for which a player may keep it: it ends before its URLs. */
  readonly maxAgeSeconds: number;
}

/** Playlists that a process signs at once: each takes some megabytes. */
const atOnce = 8;
/** Reads from the bucket of one storage at once. A slow bucket holds up no other. */
const readsAtOnce = 16;
const maxAgeSeconds = 300;

/**
 * Reads a playlist from the bucket and signs the URLs in it (src/areas/assets/README.md#playlists). A visitor gets it while the share is
 * open. No URL outlives the end of the share.
 * @throws CommandRejected share_not_found for a token that opens nothing, asset_not_found, asset_storage_unusable,
 * playlist_not_served, bucket_refused, bucket_unavailable; Overloaded while 16 playlists of the storage or of the asset are
 * read
 */
export function makeServePlaylist(deps: ShareDeps & Pick<Visits, 'findSharedAssets'>) {
  const { clock, handler, readObject, playlistTokens, findSharedAssets } = deps;
  const playlistUrl = makePlaylistUrl(deps);
  const openAssetStorage = makeOpenAssetStorage(deps);
  const kept = makeKeptPlaylists(clock);
  const places = makeSemaphore(atOnce);
  const reads = makeKeyedSemaphore({ permits: readsAtOnce, waitingMax: 0 });
  return async (token: string): Promise<ServedPlaylist> => {
    const now = clock.now();
    const grant = playlistTokens.verify(token, now);
    if (grant === null) return shareNotFound();
    const { asset, until } = await findGranted(grant, now);
    const root = asset.renditions.find(({ kind }) => kind === hlsKind);
    if (root === undefined || !isOfPlaylist(grant.objectKey, root.object_key)) return assetNotFound();
    const opened = await openAssetStorage(asset);
    const { signedAt, endsAt } = lifeOf(now, until);
    const urlOf = (objectKey: string): string =>
      opened.urls.mediaUrl({
        key: wholeKey(opened.storage.configuration.base_path, objectKey),
        query: { 'response-content-type': typeOf(objectKey) },
        signedAt,
        expiresInSeconds: (endsAt.getTime() - signedAt.getTime()) / 1_000,
      });
    // The URL of the playlist's own object is equal exactly as long as those in it are.
    const place = { assetId: grant.assetId, same: urlOf(grant.objectKey) };
    const playlist = await kept.get(place, async () => {
      const bytes = await read(opened, asset.storage_id, grant);
      return places.run(() => signPlaylist(bytes, grant.objectKey, urlOf));
    });
    const text = await writePlaylist(playlist, (objectKey) => playlistUrl({ ...grant, objectKey }));
    const leftSeconds = Math.floor((endsAt.getTime() - now.getTime()) / 1_000) - 60;
    const wanted = playlist.isEnded ? maxAgeSeconds : 1;
    return { text, maxAgeSeconds: Math.max(0, Math.min(wanted, leftSeconds)) };
  };

  /** Returns the asset, and the end of the share. */
  async function findGranted({ assetId, share }: PlaylistGrant, now: Date) {
    if (share === null) {
      const { state } = await handler.load(assetAggregate, assetId);
      return state.status === 'existing' ? { asset: state, until: null } : assetNotFound();
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

  function read({ storage, urls }: OpenedStorage, storageId: string, { objectKey }: PlaylistGrant) {
    const key = wholeKey(storage.configuration.base_path, objectKey);
    return reads.run(storageId, async () =>
      bodyOf(await readObject({ urls, key, bytesMax: playlistBytesMax })),
    );
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
