import { mediaTypeEssence } from '../../../validation/text.js';
import { wholeKey } from '../../storages/domain/bucket/bucket.js';
import type { PlaylistGrant } from '../../../keys/codes/mac-tokens.js';
import type { OpenedStorage } from '../../storages/commands/open-storage.js';
import type { AssetDeps } from '../deps.js';
import { assetAggregate, existingAsset } from '../domain/asset/asset.js';
import type { AssetAddress } from './change-asset.js';
import type { OpenAssetStorage } from './add-asset.js';
import { hlsKind } from '../domain/asset/renditions.js';
import { processPace } from '../../../kit/read-in-turns.js';

type DispositionType = 'inline' | 'attachment';

/** Types that a browser shows or plays without running their content. */
const passive = /^(?:(?:audio|image|video)\/[^;]+|text\/(?:plain|csv|vtt)|application\/pdf)$/;
/** Types of documents that may contain scripts. */
const markup = /xml|svg|html/;

/** Returns whether an object of this media type is harmless in a browser. Parameters do not count. */
export function isShownSafely(mediaType: string): boolean {
  const essence = mediaTypeEssence(mediaType);
  return passive.test(essence) && !markup.test(essence);
}

/**
 * Returns a `Content-Disposition` (RFC 6266) with the file name in ASCII, for old clients, and as RFC 8187 encodes it.
 * Only a type that is shown safely can be `inline`.
 */
export function contentDisposition(
  wanted: DispositionType,
  file: { readonly name: string; readonly mediaType: string },
): string {
  const disposition = isShownSafely(file.mediaType) ? wanted : 'attachment';
  const name = file.name.replace(unsafeInNames, '_');
  // Some clients take a percent sign for an encoding.
  const ascii = name.replace(/[^\x20-\x7e]|["%]/gu, '_');
  return `${disposition}; filename="${ascii}"; filename*=UTF-8''${encodeRfc8187(name)}`;
}

/** Path separators, characters that a system reserves, and those that hide text or turn its direction. */
const unsafeInNames = /[/\\:*?<>|\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** Percent-encodes all characters but `attr-char` (RFC 8187, 3.2.1). */
function encodeRfc8187(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Endings that say the format of a file. Other endings, as in `J.Smith` and `v1.2`, may be a part of its title. */
const formats = new Set(
  [
    '3g2 3gp aac ac3 aif aiff amr ape avi f4v flac flv m2ts m4a m4v mid midi mka mkv mov mp3 mp4 mpeg mpg mts mxf oga ogg ogv',
    'opus ra ts vob wav webm wma wmv ass srt ssa sub ttml vtt m3u8 mpd',
    'ai apng arw avif bmp cr2 cr3 dng emf eps gif hdr heic heif ico indd jfif jp2 jpeg jpg jxl nef orf png psb psd raf raw rw2',
    'sketch svg tga tif tiff webp wmf xcf',
    'csv doc docm docx dot dotx epub htm html key log md mobi numbers odg odp ods odt pages pdf potx pps ppsx ppt pptm pptx ps',
    'rtf tex tsv txt vsdx xls xlsb xlsm xlsx',
    '7z apk bin br bz2 cab deb dmg exe gz img ipa iso jar lz4 msi pkg rar rpm tar tgz war xz zip zst',
    'blend c cpp cs css dae dwg dxf fbx glb gltf go h ics java js json jsx kml kmz less obj otf parquet php py rb rs scss sh',
    'sql sqlite step stl stp tmx toml tsx ttf usdz vcf woff woff2 xml yaml yml',
  ].flatMap((line) => line.split(' ')),
);
const ending = /\.([A-Za-z0-9]{1,10})$/;
const stemBytesMax = 150;

/**
 * Returns the name to save a file under. A name that ends like the key, or like a format, stays as it is. Any other name gets
 * the ending of the key. The file of a rendition has its kind and the ending of the rendition's key.
 * @param own the key of the asset's own file
 * @param rendition null for the asset's own file
 */
export function fileName(
  name: string,
  own: string,
  rendition: { readonly kind: string; readonly object_key: string; readonly language?: string | null } | null,
): string {
  const given = endingOf(name, endingOfKey(own));
  const stem = cut(name.slice(0, name.length - given.length), stemBytesMax);
  if (rendition !== null) {
    const { kind, language, object_key } = rendition;
    const marks = [stem === '' ? name : stem, kind, language ?? ''].filter((part) => part !== '');
    return marks.join('-') + endingOfKey(object_key);
  }
  return stem + (given === '' ? endingOfKey(own) : given);
}

/** Returns the ending of a name that says its format, with the dot; `''` where there is none. */
function endingOf(name: string, ofKey: string): string {
  const [found, format = ''] = ending.exec(name) ?? [''];
  return formats.has(format.toLowerCase()) || found.toLowerCase() === ofKey.toLowerCase() ? found : '';
}

function endingOfKey(key: string): string {
  return ending.exec(key)?.[0] ?? '';
}

/** Cuts a text to a size in bytes and keeps characters whole. File systems accept names of 255 bytes. */
function cut(text: string, bytesMax: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) break;
    kept += character;
  }
  return kept;
}

/** Makes the URL of this service that serves a playlist (src/areas/assets/README.md#playlists). */
type PlaylistUrl = ReturnType<typeof makePlaylistUrl>;

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
    return signMediaLinks({ storage, asset, disposition, now: clock.now(), until: null, playlists });
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
interface PlaylistLinks extends Pick<PlaylistGrant, 'assetId' | 'share'> {
  readonly urlOf: PlaylistUrl;
}

/** The minimum life of a media URL (src/areas/shares/README.md#media-urls). */
const lifeMs = 15 * 60_000;
/** URLs of one window are equal, so that caches keep the media. Each may live this much longer. */
const windowMs = 5 * 60_000;

/** Makes the links in a turn that has room for them: those of a gallery with RSA signatures take 0.3 s in all. */
export async function signMediaLinks(given: Parameters<typeof makeMediaLinks>[0]): Promise<MediaLink[]> {
  const files = 1 + given.asset.renditions.length;
  await processPace.spend({ bytes: 0, elements: files * given.storage.urls.mediaUrlElements });
  return makeMediaLinks(given);
}

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
