import { LRUCache } from 'lru-cache';
import { makeKeyedSemaphore } from '../../../../kit/semaphore.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';
import type { SteadyClock } from '../../../../kit/time/clock.js';
import { processPace } from '../../../../kit/read-in-turns.js';
import { type PlaylistReference, readPlaylist } from '../../../assets/domain/playlist.js';

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
): Promise<SignedPlaylist> {
  const read: (string | PlaylistReference)[] = [];
  let isEnded = false;
  for (const step of readPlaylist(bytes, objectKey)) {
    read.push(...step.parts);
    isEnded ||= step.isEnding;
    const turn = processPace.spend({ bytes: step.bytes, elements: 1 });
    if (turn !== undefined) await turn;
  }
  const parts: SignedPlaylist['parts'][number][] = [];
  let text: string[] = [];
  for (const part of read) {
    if (typeof part === 'string') text.push(part);
    else if (part.kind === 'object') {
      await processPace.spend({ bytes: part.key.length, elements: linesOfSignature });
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
): Promise<string> {
  const texts: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') texts.push(part);
    else {
      await processPace.spend({ bytes: part.playlist.length, elements: linesOfSignature });
      texts.push(urlOf(part.playlist));
    }
  }
  return texts.join('');
}

type Outcome = { readonly signed: SignedPlaylist } | { readonly refusal: CommandRejected };

/** Playlists of one asset that are made at once. A customer with a playlist of many playlists holds up no other. */
const madeAtOnce = 4;
const waitingMax = 12;
/** Bytes of all kept playlists, about, and what a refusal and a part take beside their text. */
const [keptMax, refusalBytes, partBytes] = [32 * 2 ** 20, 2_048, 100];
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
      const isFresh = found !== undefined && clock.steadyMs() < found.untilMs;
      const outcome = isFresh ? found.outcome : await (making.get(key) ?? makeOnce(assetId, key, make));
      if ('refusal' in outcome) throw outcome.refusal;
      return outcome.signed;
    },
  };

  function makeOnce(assetId: string, key: string, make: () => Promise<SignedPlaylist>): Promise<Outcome> {
    const made = outcomeOf(assetId, make)
      .then((outcome) => {
        const keepMs = keepMsOf(outcome);
        if (keepMs > 0) kept.set(key, { outcome, untilMs: clock.steadyMs() + keepMs });
        return outcome;
      })
      .finally(() => making.delete(key));
    making.set(key, made);
    return made;
  }

  async function outcomeOf(assetId: string, make: () => Promise<SignedPlaylist>): Promise<Outcome> {
    try {
      return { signed: await places.run(assetId, make) };
    } catch (error) {
      if (error instanceof CommandRejected) return { refusal: error as CommandRejected };
      throw error;
    }
  }
}

/** A bucket that does not answer is asked again by the next caller. URLs of a later window have another key. */
function keepMsOf(outcome: Outcome): number {
  if ('refusal' in outcome) return outcome.refusal.code === 'playlist_not_served' ? refusedMs : 0;
  return outcome.signed.isEnded ? Infinity : growingMs;
}

function sizeOf(outcome: Outcome): number {
  if ('refusal' in outcome) return refusalBytes;
  return outcome.signed.parts.reduce(
    (sum, part) => sum + partBytes + (typeof part === 'string' ? part.length : part.playlist.length),
    0,
  );
}
