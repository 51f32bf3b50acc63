import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { makeKeyedSemaphore } from '../../../../kit/semaphore.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';
import type { SteadyClock } from '../../../../kit/time/clock.js';
import { processPace } from '../../../../kit/read-in-turns.js';
import { rejectAsset } from '../../../assets/domain/asset/rejections.js';
import { type PlaylistReference, readPlaylist } from '../../../assets/domain/playlist.js';

/** A playlist with signed URLs of its objects. */
export interface SignedPlaylist {
  /** What every caller gets; null where the playlist names other playlists, whose URLs are for one caller. */
  readonly body: PlaylistBody | null;
  /** Of a playlist without a body. */
  readonly parts: readonly (string | { readonly playlist: string })[];
  /** Whether players may keep it. */
  readonly isEnded: boolean;
}

export interface PlaylistBody {
  /** All replies share the bytes of a kept body, so clients that read slowly take no memory. */
  readonly bytes: Buffer | string;
  /** SHA-256, in base64url. */
  readonly digest: string;
}

/** The MAC of a playlist's URL takes as long as some lines. */
const linesOfMac = 4;
/** The bytes of a playlist with signed URLs: a short reference can become a URL of a thousand bytes. */
const writtenMax = 8 * 2 ** 20;

/**
 * Reads a playlist, then signs the URLs of its objects. A playlist that is refused before costs no signature.
 * @param urls `of` signs the URL of an object below the base path, which takes so many elements of a turn
 * @throws CommandRejected playlist_not_served
 */
export async function signPlaylist(
  bytes: Buffer,
  objectKey: string,
  urls: { readonly of: (objectKey: string) => string; readonly elements: number },
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
  let [text, written]: [string[], number] = [[], 0];
  for (const part of read) {
    if (typeof part === 'string') text.push(part);
    else if (part.kind === 'object') {
      await processPace.spend({ bytes: part.key.length, elements: urls.elements });
      const url = urls.of(part.key);
      written += url.length;
      if (written > writtenMax)
        rejectAsset('playlist_not_served', 'the playlist with its signed URLs is larger than 8 MiB');
      text.push(url);
    } else {
      parts.push(text.join(''), { playlist: part.key });
      text = [];
    }
  }
  if (parts.length > 0) return { body: null, parts: [...parts, text.join('')], isEnded };
  await processPace.spend({ bytes: written, elements: 0 });
  const whole = Buffer.from(text.join(''));
  return { body: { bytes: whole, digest: digestOf(whole) }, parts, isEnded };
}

/** Writes the playlist for one caller. @param urlOf makes the URL of a playlist of the same asset */
export async function writePlaylist(
  { body, parts }: SignedPlaylist,
  urlOf: (objectKey: string) => string,
): Promise<PlaylistBody> {
  if (body !== null) return body;
  const texts: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') texts.push(part);
    else {
      await processPace.spend({ bytes: part.playlist.length, elements: linesOfMac });
      texts.push(urlOf(part.playlist));
    }
  }
  const text = texts.join('');
  return { bytes: text, digest: digestOf(text) };
}

function digestOf(content: Buffer | string): string {
  return hash('sha256', content, 'base64url');
}

type Outcome = { readonly signed: SignedPlaylist } | { readonly refusal: CommandRejected };

/** Requests of one payer that wait for playlists at once. The bucket of one customer holds up no other. */
const waitingMax = 40;
/** Bytes of all kept playlists, about, and what a refusal and a part take beside their text. */
const [keptMax, refusalBytes, partBytes] = [32 * 2 ** 20, 2_048, 100];
/** For how long a stream that is still being written, and refusals, are kept, in ms. A missing playlist may come soon. */
const [growingMs, refusedMs, awayMs] = [1_000, 10_000, 5_000];
/** While a caller reads a playlist again, in 5 s at most, the others get the kept one. */
const staleMs = 5_000;

/** Keeps signed playlists while their URLs are equal, so that many players of one playlist cost one read of the bucket. */
export function makeKeptPlaylists(clock: SteadyClock) {
  const kept = new LRUCache<string, { readonly outcome: Outcome; readonly untilMs: number }>({
    maxSize: keptMax,
    sizeCalculation: ({ outcome }, { length }) => length + sizeOf(outcome),
  });
  const making = new Map<string, Promise<Outcome>>();
  const places = makeKeyedSemaphore({ permits: waitingMax, waitingMax: 0 });
  return {
    /**
     * Returns the kept playlist, or makes it. Callers that ask for the same one wait for one making.
     * @param place `same`: equal for calls whose URLs are equal
     * @throws Overloaded while 40 requests of the payer wait; the errors of `make`
     */
    get: async (
      { payer, same }: { readonly payer: string; readonly same: string },
      make: () => Promise<SignedPlaylist>,
    ) => {
      const found = kept.get(same);
      const isMade = making.has(same);
      const isFresh = found !== undefined && clock.steadyMs() < found.untilMs + (isMade ? staleMs : 0);
      const outcome = isFresh
        ? found.outcome
        : await places.run(payer, () => making.get(same) ?? makeOnce(same, make));
      if ('refusal' in outcome) throw outcome.refusal;
      return outcome.signed;
    },
  };

  function makeOnce(same: string, make: () => Promise<SignedPlaylist>): Promise<Outcome> {
    const made = outcomeOf(make)
      .then((outcome) => {
        kept.set(same, { outcome, untilMs: clock.steadyMs() + keepMsOf(outcome) });
        return outcome;
      })
      .finally(() => making.delete(same));
    making.set(same, made);
    return made;
  }
}

async function outcomeOf(make: () => Promise<SignedPlaylist>): Promise<Outcome> {
  try {
    return { signed: await make() };
  } catch (error) {
    if (error instanceof CommandRejected) return { refusal: error as CommandRejected };
    throw error;
  }
}

/** A bucket that does not answer is left alone for a while, as each request that waits for it takes a place of all customers. */
function keepMsOf(outcome: Outcome): number {
  if ('signed' in outcome) return outcome.signed.isEnded ? Infinity : growingMs;
  switch (outcome.refusal.code) {
    case 'playlist_not_served':
      return refusedMs;
    case 'bucket_unavailable':
    case 'bucket_refused':
      return awayMs;
    default:
      return growingMs;
  }
}

function sizeOf(outcome: Outcome): number {
  if ('refusal' in outcome) return refusalBytes;
  const { body, parts } = outcome.signed;
  return parts.reduce(
    (sum, part) => sum + partBytes + (typeof part === 'string' ? part.length : part.playlist.length),
    partBytes + (body?.bytes.length ?? 0),
  );
}
