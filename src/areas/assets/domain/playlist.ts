import { isPrintable } from '../../../validation/text.js';
import { rejectAsset } from './asset/rejections.js';

/** A reference of a playlist to another file, as an object key below the base path. */
export interface PlaylistReference {
  /** `playlist`: a variant stream or a rendition, which is a playlist too. */
  readonly kind: 'object' | 'playlist';
  readonly key: string;
}

/** The text of a playlist, with its references in their places. */
export interface Playlist {
  readonly parts: readonly (string | PlaylistReference)[];
  /** Whether players may keep it: it names its end, or it lists only other playlists. */
  readonly isEnded: boolean;
}

/** The bytes of the largest playlist that is served. */
export const playlistBytesMax = 2 ** 20;
const referencesMax = 10_000;
/** Characters of a line. References of 1,024 bytes are below, also where each byte is percent-encoded. */
const lineMax = 16_384;

/** Tags whose attribute URI names an object, and those whose URI names a playlist (RFC 8216, section 4.3; RFC 8216bis). */
const objectTags: ReadonlySet<string> = new Set([
  ...[
    'EXT-X-KEY',
    'EXT-X-SESSION-KEY',
    'EXT-X-MAP',
    'EXT-X-PART',
    'EXT-X-PRELOAD-HINT',
    'EXT-X-SESSION-DATA',
  ],
]);
const keyTags: ReadonlySet<string> = new Set(['EXT-X-KEY', 'EXT-X-SESSION-KEY']);
const playlistTags: ReadonlySet<string> = new Set(['EXT-X-MEDIA', 'EXT-X-I-FRAME-STREAM-INF']);
/** The line after this tag names a playlist. */
const streamTag = 'EXT-X-STREAM-INF';
/** Tags of playlists that do not change: the end of a media playlist, and those of master playlists. */
const endingTags: ReadonlySet<string> = new Set(['EXT-X-ENDLIST', streamTag, ...playlistTags]);
/** Tags that tell players to send parameters to the URL of the playlist, which the service does not take. */
const droppedTags: ReadonlySet<string> = new Set(['EXT-X-SERVER-CONTROL']);

/**
 * Reads a playlist of HTTP Live Streaming (RFC 8216). Relative references lead into the folder of the playlist. An absolute
 * URL, a path from the root, `..` and variables are refused. Comments, and tags with references that are not known, are left
 * out: players ignore tags that they do not know.
 * @param objectKey the key of the playlist below the base path
 * @throws CommandRejected playlist_not_served, naming the line
 */
export function readPlaylist(bytes: Buffer, objectKey: string): Playlist {
  // Some players take a single CR as the end of a line, so a reference must not hide behind one.
  const lines = textOf(bytes).split(/\r\n|\r|\n/);
  const long = lines.findIndex(({ length }) => length > lineMax);
  if (long >= 0) refuse(long + 1, `has more than ${lineMax} characters`);
  const tags = lines.map(tagOf);
  if (tags[0] !== 'EXTM3U') refuse(1, 'is not #EXTM3U');
  const folder = objectKey.slice(0, objectKey.lastIndexOf('/') + 1);
  const parts: (string | PlaylistReference)[] = [];
  let references = 0;
  const refer = (kind: PlaylistReference['kind'], uri: string, line: number): void => {
    references += 1;
    if (references > referencesMax) refuse(line, `is beyond ${referencesMax} references`);
    parts.push({ kind, key: folder + relativeKey(uri, line) });
  };
  let isVariant = false;
  for (const [index, line] of lines.entries()) {
    const tag = tags[index] ?? null;
    if (tag !== null) {
      isVariant ||= tag === streamTag;
      writeTag({ tag, line, number: index + 1 }, parts, refer);
    } else if (line !== '' && !line.startsWith('#')) {
      refer(isVariant ? 'playlist' : 'object', line.trimEnd(), index + 1);
      parts.push('\n');
      isVariant = false;
    }
  }
  return { parts, isEnded: tags.some((tag) => tag !== null && endingTags.has(tag)) };
}

/** Returns the name of the tag in a line; null for a line without one. */
function tagOf(line: string): string | null {
  return /^#(EXT[A-Z0-9-]*)/.exec(line)?.[1] ?? null;
}

function kindOf(tag: string): PlaylistReference['kind'] | null {
  if (objectTags.has(tag)) return 'object';
  return playlistTags.has(tag) ? 'playlist' : null;
}

interface TagLine {
  readonly tag: string;
  readonly line: string;
  readonly number: number;
}

function writeTag(
  { tag, line, number }: TagLine,
  parts: (string | PlaylistReference)[],
  refer: (kind: PlaylistReference['kind'], uri: string, line: number) => void,
): void {
  if (tag === 'EXT-X-DEFINE') refuse(number, 'defines a variable');
  const mentions = line.split('URI=').length - 1;
  if (mentions === 0) {
    if (!droppedTags.has(tag)) parts.push(`${line}\n`);
    return;
  }
  const kind = kindOf(tag);
  if (kind === null) {
    // The title of a segment may hold any text.
    if (tag === 'EXTINF') parts.push(`${line}\n`);
    return;
  }
  // Players also read a value without quotation marks, and the last of two.
  const named = /(?<![A-Z0-9-])URI="([^"]*)"/.exec(line);
  const uri = named?.[1];
  if (named === null || uri === undefined || mentions > 1)
    return refuse(number, 'does not have one URI in quotation marks');
  if (keyTags.has(tag) && /^(?:skd|data|urn):/i.test(uri)) {
    // The system for protected content resolves it, and not the player.
    parts.push(`${line}\n`);
    return;
  }
  const start = named.index + 'URI="'.length;
  parts.push(line.slice(0, start));
  refer(kind, uri, number);
  parts.push(`${line.slice(start + uri.length)}\n`);
}

/** Returns the key below the folder of the playlist. Query and fragment of a reference do not count. */
function relativeKey(uri: string, line: number): string {
  const path = uri.split(/[?#]/, 1)[0] ?? '';
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri)) refuse(line, 'is an absolute URL; name files in the folder');
  if (/^[/\\]/.test(path)) refuse(line, 'begins at the root; name files in the folder');
  const segments = path
    .split('/')
    .map((segment) => decoded(segment, line))
    .filter((segment) => segment !== '.');
  const key = segments.join('/');
  if (segments.some((segment) => segment === '..' || /[/\\]/.test(segment))) {
    refuse(line, 'leaves the folder of the playlist');
  }
  if (key === '' || key.endsWith('/') || !isPrintable(key)) refuse(line, 'names no file');
  return key;
}

function decoded(segment: string, line: number): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return refuse(line, 'has a percent sign that begins no character');
    throw error;
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return refuse(1, 'is not UTF-8');
    throw error;
  }
}

function refuse(line: number, why: string): never {
  return rejectAsset('playlist_not_served', `line ${line} of the playlist ${why}`);
}
