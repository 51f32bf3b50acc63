import mime from 'mime';
import { makeKeyedSemaphore, makeSemaphore } from '../../../../kit/semaphore.js';
import { assetAggregate } from '../../../assets/domain/asset/asset.js';
import { playlistBytesMax, type PlaylistReference, readPlaylist } from '../../../assets/domain/playlist.js';
import { assetNotFound, rejectAsset } from '../../../assets/domain/asset/rejections.js';
import { hlsKind } from '../../../assets/domain/asset/renditions.js';
import { isExpired, shareAggregate } from '../../domain/share/share.js';
import { shareNotFound } from '../../domain/share/rejections.js';
import { wholeKey } from '../../../storages/domain/bucket/object-key-rules.js';
import type { ReadAnswer } from '../../../storages/bucket/objects/head-object.js';
import type { PlaylistGrant } from '../../../../keys/codes/playlist-tokens.js';
import type { ShareDeps } from '../../deps.js';
import type { Visits } from '../visiting/visits.js';
import type { OpenedStorage } from '../../../storages/commands/open-storage.js';
import { makeOpenAssetStorage } from '../../../assets/commands/add-asset.js';
import { isOfPlaylist, lifeOf, makePlaylistUrl } from '../../../assets/commands/media/media-links.js';
import { LRUCache } from 'lru-cache';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';
import { type SteadyClock, steadyMsOf } from '../../../../kit/time/clock.js';
import { type Pace, processPace } from '../../../../kit/pace.js';

/** A playlist with signed URLs of its objects. The URLs of the playlists in it are for one caller. */
export interface SignedPlaylist {
  readonly parts: readonly (string | { readonly playlist: string })[];
  /** Whether players may keep it. */
  readonly isEnded: boolean;
}

/** A signature takes as long as some lines. */
const linesOfSignature = 4;

/**
 * Reads a playlist, then signs the URLs of its objects. A playlist that is refused costs no signature.
 * @param sign signs the URL of an object below the base path
 * @throws CommandRejected playlist_not_served
 */
export async function signPlaylist(
  bytes: Buffer,
  objectKey: string,
  sign: (objectKey: string) => string,
  pace: Pace = processPace,
): Promise<SignedPlaylist> {
  const read: (string | PlaylistReference)[] = [];
  let isEnded = false;
  for (const step of readPlaylist(bytes, objectKey)) {
    read.push(...step.parts);
    isEnded ||= step.isEnding;
    const turn = pace.spend({ bytes: step.bytes, elements: 1 });
    if (turn !== undefined) await turn;
  }
  const parts: SignedPlaylist['parts'][number][] = [];
  let text: string[] = [];
  for (const part of read) {
    if (typeof part === 'string') text.push(part);
    else if (part.kind === 'object') {
      await pace.spend({ bytes: part.key.length, elements: linesOfSignature });
      text.push(sign(part.key));
    } else {
      parts.push(text.join(''), { playlist: part.key });
      text = [];
    }
  }
  return { parts: [...parts, text.join('')], isEnded };
}

/** Writes the text for one caller. @param urlOf makes the URL of a playlist of the same asset */
export async function writePlaylist(
  { parts }: SignedPlaylist,
  urlOf: (objectKey: string) => string,
  pace: Pace = processPace,
): Promise<string> {
  const texts: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') texts.push(part);
    else {
      await pace.spend({ bytes: part.playlist.length, elements: linesOfSignature });
      texts.push(urlOf(part.playlist));
    }
  }
  return texts.join('');
}

type Outcome = { readonly signed: SignedPlaylist } | { readonly refusal: CommandRejected };

/** Playlists of one asset that are made at once. A customer with a playlist of many playlists holds up no other. */
const madeAtOnce = 4;
const waitingMax = 12;
/** Characters of all kept playlists. */
const keptMax = 32 * 2 ** 20;
/** For how long a stream that is still being written, and one that is refused, are kept, in ms. */
const [growingMs, refusedMs] = [1_000, 10_000];

/** Keeps signed playlists while their URLs are equal, so that many players of one playlist cost one read of the bucket. */
export function makeKeptPlaylists(clock: SteadyClock) {
  const kept = new LRUCache<string, { readonly outcome: Outcome; readonly untilMs: number }>({
    maxSize: keptMax,
    sizeCalculation: ({ outcome }, { length }) => length + sizeOf(outcome),
  });
  const making = new Map<string, Promise<Outcome>>();
  const places = makeKeyedSemaphore({ permits: madeAtOnce, waitingMax });
  return {
    /**
     * Returns the kept playlist, or makes it. Callers that ask for the same one wait for one making.
     * @param place `same`: equal for calls whose URLs are equal
     * @throws Overloaded while many other playlists of the asset are made; the errors of `make`
     */
    get: async (
      { assetId, same }: { readonly assetId: string; readonly same: string },
      make: () => Promise<SignedPlaylist>,
    ) => {
      const key = `${assetId} ${same}`;
      const found = kept.get(key);
      const isFresh = found !== undefined && steadyMsOf(clock) < found.untilMs;
      const outcome = isFresh ? found.outcome : await (making.get(key) ?? makeOnce(assetId, key, make));
      if ('refusal' in outcome) throw outcome.refusal;
      return outcome.signed;
    },
  };

  function makeOnce(assetId: string, key: string, make: () => Promise<SignedPlaylist>): Promise<Outcome> {
    const made = outcomeOf(assetId, make)
      .then((outcome) => {
        const keepMs = keepMsOf(outcome);
        if (keepMs > 0) kept.set(key, { outcome, untilMs: steadyMsOf(clock) + keepMs });
        return outcome;
      })
      .finally(() => making.delete(key));
    making.set(key, made);
    return made;
  }

  async function outcomeOf(assetId: string, make: () => Promise<SignedPlaylist>): Promise<Outcome> {
    const release = await places.acquire(assetId);
    try {
      return { signed: await make() };
    } catch (error) {
      if (error instanceof CommandRejected) return { refusal: error as CommandRejected };
      throw error;
    } finally {
      release();
    }
  }
}

/** A bucket that does not answer is asked again by the next caller. URLs of a later window have another key. */
function keepMsOf(outcome: Outcome): number {
  if ('refusal' in outcome) return outcome.refusal.code === 'playlist_not_served' ? refusedMs : 0;
  return outcome.signed.isEnded ? Infinity : growingMs;
}

function sizeOf(outcome: Outcome): number {
  if ('refusal' in outcome) return 1;
  return outcome.signed.parts.reduce(
    (sum, part) => sum + (typeof part === 'string' ? part.length : part.playlist.length),
    1,
  );
}

export interface ServedPlaylist {
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

  async function read(
    { storage, urls }: OpenedStorage,
    storageId: string,
    { objectKey }: PlaylistGrant,
  ): Promise<Buffer> {
    const release = await reads.acquire(storageId);
    try {
      const key = wholeKey(storage.configuration.base_path, objectKey);
      return bodyOf(await readObject({ urls, key, bytesMax: playlistBytesMax }));
    } finally {
      release();
    }
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
