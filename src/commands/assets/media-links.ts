import { wholeKey } from '../../domain/storage/object-key.js';
import { contentDisposition, type DispositionType, fileName } from './content-disposition.js';
import type { OpenedStorage } from '../storages/open-storage.js';

/** A URL of one file of an asset. */
export interface MediaLink {
  /** `original`, or the kind of the rendition. */
  readonly kind: string;
  readonly url: string;
  readonly method: 'GET';
  readonly media_type: string;
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
  }[];
}

/** The minimum life of a media URL (docs/design.md#media-urls). */
const lifeMs = 15 * 60_000;
/** URLs of one window are equal, so that caches keep the media. Each may live this much longer. */
const windowMs = 5 * 60_000;

/**
 * Signs a URL for the asset's own file and for each rendition, in that order, without network and clock. Names and
 * types are signed in, so the holder of a URL cannot make a page of it. A type that a browser could run is a download.
 * @param disposition says whether a browser shows or saves a file that it can show
 * @param until the latest end of the URLs, after `now`; null: no such end
 */
export function makeMediaLinks({
  storage: { storage, urls },
  asset,
  disposition,
  now,
  until,
}: {
  readonly storage: OpenedStorage;
  readonly asset: LinkedAsset;
  readonly disposition: DispositionType;
  readonly now: Date;
  readonly until: Date | null;
}): MediaLink[] {
  const { signedAt, endsAt } = lifeOf(now, until);
  const expiresInSeconds = (endsAt.getTime() - signedAt.getTime()) / 1_000;
  const basePath = storage.configuration.base_path;
  const own = { kind: 'original', object_key: asset.object_key, media_type: asset.media_type };
  return [own, ...asset.renditions].map((file) => {
    const { kind, object_key, media_type } = file;
    const name = fileName(asset.name, asset.object_key, file === own ? null : file);
    const url = urls.mediaUrl({
      key: wholeKey(basePath, object_key),
      query: {
        'response-content-type': media_type,
        'response-content-disposition': contentDisposition(disposition, { name, mediaType: media_type }),
      },
      signedAt,
      expiresInSeconds,
    });
    return { kind, url, method: 'GET', media_type, expires_at: endsAt.toISOString() };
  });
}

/** Rounds to whole seconds, because signatures have no others. A URL lives at least 1 s. */
function lifeOf(now: Date, until: Date | null): { readonly signedAt: Date; readonly endsAt: Date } {
  const windowStart = Math.floor(now.getTime() / windowMs) * windowMs;
  const end = Math.min(windowStart + windowMs + lifeMs, until?.getTime() ?? Infinity);
  const endsAt = Math.floor(end / 1_000) * 1_000;
  return { signedAt: new Date(Math.min(windowStart, endsAt - 1_000)), endsAt: new Date(endsAt) };
}
