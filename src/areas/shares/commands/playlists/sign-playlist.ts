import { type Pace, processPace } from '../../../../kit/pace.js';
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
