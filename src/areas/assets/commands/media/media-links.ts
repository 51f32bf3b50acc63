import { wholeKey } from '../../../storages/domain/bucket/object-key-rules.js';
import { type DispositionType, contentDisposition, fileName } from './file-name.js';
import type { PlaylistGrant } from '../../../../keys/codes/playlist-tokens.js';
import type { OpenedStorage } from '../../../storages/commands/open-storage.js';
import type { AssetDeps } from '../../deps.js';
import { assetAggregate, existingAsset } from '../../domain/asset/asset.js';
import type { AssetAddress } from '../change-asset.js';
import type { OpenAssetStorage } from '../add-asset.js';
import { hlsKind } from '../../domain/asset/renditions.js';

/** Makes the URL of this service that serves a playlist (src/areas/assets/README.md#playlists). */
export type PlaylistUrl = ReturnType<typeof makePlaylistUrl>;

export function makePlaylistUrl({ playlistTokens, publicUrl }: AssetDeps) {
  const origin = publicUrl.replace(/\/+$/, '');
  // Some players go by the ending.
  return (grant: PlaylistGrant) => `${origin}/api/v1/hls/${playlistTokens.issue(grant)}/playlist.m3u8`;
}

/** Says whether the service serves the file. A CDN that serves the folder without signatures serves its playlists too. */
function isServedPlaylist(
  { kind }: { readonly kind: string },
  { delivery, configuration }: OpenedStorage['storage'],
): boolean {
  return kind === hlsKind && !(delivery === 'public' && configuration.cdn_domain !== '');
}

/** Says whether an object is the root playlist of an asset, or lies in its folder or below. */
export function isOfPlaylist(objectKey: string, rootKey: string): boolean {
  return objectKey === rootKey || objectKey.startsWith(rootKey.slice(0, rootKey.lastIndexOf('/') + 1));
}

/** Signs URLs of an asset's files for members. @throws CommandRejected asset_not_found, asset_storage_unusable */
export function makeIssueMediaLinks(
  deps: AssetDeps & { readonly openAssetStorage: OpenAssetStorage; readonly playlistUrl: PlaylistUrl },
) {
  const { clock, handler, openAssetStorage, playlistUrl } = deps;
  return async (input: AssetAddress & { readonly disposition: DispositionType }) => {
    const { projectId, assetId, disposition } = input;
    const { state } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    const storage = await openAssetStorage(asset);
    const playlists = { assetId, share: null, urlOf: playlistUrl };
    return makeMediaLinks({ storage, asset, disposition, now: clock.now(), until: null, playlists });
  };
}

/** A URL of one file of an asset. */
export interface MediaLink {
  /** `original`, or the kind of the rendition. */
  readonly kind: string;
  readonly url: string;
  /** Only of a document in a share: a URL that shows it, where `url` may save it. */
  readonly inline_url?: string;
  readonly method: 'GET';
  readonly media_type: string;
  /** Of subtitles (BCP 47); absent elsewhere. */
  readonly language?: string;
  /** RFC 3339; a signed URL is refused from then on. */
  readonly expires_at: string;
}

/** The fields that links are made of. An asset's document and its state have them. */
export interface LinkedAsset {
  readonly name: string;
  /** Below the storage's base path, like the keys of renditions. */
  readonly object_key: string;
  readonly media_type: string;
  readonly renditions: readonly {
    readonly kind: string;
    readonly object_key: string;
    readonly media_type: string;
    readonly language?: string | null;
  }[];
}

/** What the URLs of playlists are made of. */
export interface PlaylistLinks extends Pick<PlaylistGrant, 'assetId' | 'share'> {
  readonly urlOf: PlaylistUrl;
}

/** The minimum life of a media URL (src/areas/shares/README.md#media-urls). */
const lifeMs = 15 * 60_000;
/** URLs of one window are equal, so that caches keep the media. Each may live this much longer. */
const windowMs = 5 * 60_000;

/**
 * Signs a URL for the asset's own file and for each rendition, in that order, without network and clock. Names and
 * types are signed in, so the holder of a URL cannot make a page of it. A type that a browser could run is a download.
 * The service itself serves a playlist (src/areas/assets/README.md#playlists).
 * @param disposition whether a browser shows or saves a file that it can show
 * @param until the latest end of the URLs, after `now`; null: no such end
 */
export function makeMediaLinks({
  storage: { storage, urls },
  asset,
  disposition,
  now,
  until,
  playlists = null,
}: {
  readonly storage: OpenedStorage;
  readonly asset: LinkedAsset;
  readonly disposition: DispositionType;
  readonly now: Date;
  readonly until: Date | null;
  /** Null or left out where the asset has no playlist. */
  readonly playlists?: PlaylistLinks | null;
}): MediaLink[] {
  const { signedAt, endsAt } = lifeOf(now, until);
  const expiresInSeconds = (endsAt.getTime() - signedAt.getTime()) / 1_000;
  const basePath = storage.configuration.base_path;
  const own = {
    kind: 'original',
    object_key: asset.object_key,
    media_type: asset.media_type,
    language: null,
  };
  return [own, ...asset.renditions].map((file) => {
    const { kind, object_key, media_type, language = null } = file;
    const name = fileName(asset.name, asset.object_key, file === own ? null : file);
    if (playlists !== null && isServedPlaylist(file, storage)) {
      const ends = playlistEnd(playlists, { endsAt, now, until });
      const grant = {
        assetId: playlists.assetId,
        share: playlists.share,
        objectKey: object_key,
        endsAt: ends,
      };
      const url = playlists.urlOf(grant);
      return { kind, url, method: 'GET', media_type, expires_at: ends.toISOString() };
    }
    const url = urls.mediaUrl({
      key: wholeKey(basePath, object_key),
      query: {
        'response-content-type': media_type,
        'response-content-disposition': contentDisposition(disposition, { name, mediaType: media_type }),
      },
      signedAt,
      expiresInSeconds,
    });
    const marked = language === null ? {} : { language };
    return { kind, url, method: 'GET', media_type, ...marked, expires_at: endsAt.toISOString() };
  });
}

/** Each request of a visitor's playlist asks whether the share is open, so its URL may live as long as a session. */
const visitMs = 12 * 3_600_000;

function playlistEnd(
  { share }: PlaylistLinks,
  { endsAt, now, until }: { readonly endsAt: Date; readonly now: Date; readonly until: Date | null },
): Date {
  if (share === null) return endsAt;
  const windowStart = Math.floor(now.getTime() / windowMs) * windowMs;
  return new Date(Math.floor(Math.min(windowStart + visitMs, until?.getTime() ?? Infinity) / 1_000) * 1_000);
}

/** Rounds to whole seconds, because signatures have no others. A URL lives at least 1 s. */
export function lifeOf(now: Date, until: Date | null): { readonly signedAt: Date; readonly endsAt: Date } {
  const windowStart = Math.floor(now.getTime() / windowMs) * windowMs;
  const end = Math.min(windowStart + windowMs + lifeMs, until?.getTime() ?? Infinity);
  const endsAt = Math.floor(end / 1_000) * 1_000;
  return { signedAt: new Date(Math.min(windowStart, endsAt - 1_000)), endsAt: new Date(endsAt) };
}
