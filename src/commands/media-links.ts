import { wholeKey } from '../domain/storage/object-key.js';
import { contentDisposition, type Disposition, fileName } from './content-disposition.js';
import type { OpenedStorage } from './open-storage.js';

/** A URL that one of an asset's files can be fetched from. */
export interface MediaLink {
  /** `original`, or the rendition's. */
  readonly kind: string;
  readonly url: string;
  readonly method: 'GET';
  readonly media_type: string;
  /** RFC 3339; the URL is refused from then on. */
  readonly expires_at: string;
}

/** What the links are made of: an asset's document or state has it. */
export interface LinkedAsset {
  readonly name: string;
  /** Below the storage's base path, as those of renditions are. */
  readonly object_key: string;
  readonly media_type: string;
  readonly renditions: readonly {
    readonly kind: string;
    readonly object_key: string;
    readonly media_type: string;
  }[];
}

/** DESIGN 4.4: media URLs live at least so long. */
const lifeMs = 15 * 60_000;
/** URLs signed within one window are the same, so that caches know them; each lives so much longer. */
const windowMs = 5 * 60_000;

/**
 * Signs a URL for the asset's own file and for each rendition, in that order. Pure: no network, no clock. Names and types
 * are signed in, so whoever has a URL cannot make a page of it; what a browser could run is always a download.
 * @param disposition whether a browser is to show what it can show, or to save it
 * @param until no URL lives longer; it lies after `now`. Null: nothing else bounds them
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
  readonly disposition: Disposition;
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

/** Signatures count in whole seconds, and live one at least. */
function lifeOf(now: Date, until: Date | null): { readonly signedAt: Date; readonly endsAt: Date } {
  const windowStart = Math.floor(now.getTime() / windowMs) * windowMs;
  const end = Math.min(windowStart + windowMs + lifeMs, until?.getTime() ?? Infinity);
  const endsAt = Math.floor(end / 1_000) * 1_000;
  return { signedAt: new Date(Math.min(windowStart, endsAt - 1_000)), endsAt: new Date(endsAt) };
}
