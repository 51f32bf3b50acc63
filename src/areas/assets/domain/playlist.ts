import { isUtf8 } from 'node:buffer';
import { decodeUri, isPrintable } from '../../../validation/text.js';
import { rejectAsset } from './asset/rejections.js';

/*
 * The tags of playlists that the service passes on (RFC 8216, section 4.3), with their attributes (also RFC 8216bis, section 4.4).
 * Every other tag and attribute is left out: a player ignores what is absent, and may fetch what an unknown one names.
 */

/** How a tag is written on: as it is, or from its attributes. */
interface KnownTag {
  /** The names of its attributes; null for a tag with a plain value or none. */
  readonly attributes: ReadonlySet<string> | null;
  /** What the attribute URI names; null for a tag without one. */
  readonly refers: 'object' | 'playlist' | null;
  /** Whether a playlist with the tag does not change. */
  readonly isEnding: boolean;
}

function tag(attributes: string | null, more: Partial<KnownTag> = {}): KnownTag {
  const names = attributes === null ? null : new Set(attributes.split(' '));
  return { attributes: names, refers: null, isEnding: false, ...more };
}

const plain = tag(null);
const variant =
  'BANDWIDTH AVERAGE-BANDWIDTH SCORE CODECS SUPPLEMENTAL-CODECS RESOLUTION FRAME-RATE HDCP-LEVEL ALLOWED-CPC VIDEO-RANGE ' +
  'REQ-VIDEO-LAYOUT STABLE-VARIANT-ID AUDIO VIDEO SUBTITLES CLOSED-CAPTIONS PATHWAY-ID PROGRAM-ID NAME';
const key = tag('METHOD URI IV KEYFORMAT KEYFORMATVERSIONS KEYID', { refers: 'object' });

/** The line after this tag names a playlist. */
const streamTag = 'EXT-X-STREAM-INF';
const keyTags: ReadonlySet<string> = new Set(['EXT-X-KEY', 'EXT-X-SESSION-KEY']);

const knownTags: ReadonlyMap<string, KnownTag> = new Map([
  ['EXTM3U', plain],
  ['EXT-X-VERSION', plain],
  ['EXT-X-INDEPENDENT-SEGMENTS', plain],
  ['EXT-X-START', tag('TIME-OFFSET PRECISE')],
  // A segment. The title of EXTINF may hold any text.
  ['EXTINF', plain],
  ['EXT-X-BYTERANGE', plain],
  ['EXT-X-DISCONTINUITY', plain],
  ['EXT-X-KEY', key],
  ['EXT-X-MAP', tag('URI BYTERANGE', { refers: 'object' })],
  ['EXT-X-PROGRAM-DATE-TIME', plain],
  // Of RFC 8216bis. Without it, a player loads a segment that does not exist, and may stop there.
  ['EXT-X-GAP', plain],
  [
    'EXT-X-DATERANGE',
    tag(
      'ID CLASS START-DATE CUE END-DATE DURATION PLANNED-DURATION SCTE35-CMD SCTE35-OUT SCTE35-IN END-ON-NEXT',
    ),
  ],
  // A media playlist.
  ['EXT-X-TARGETDURATION', plain],
  ['EXT-X-MEDIA-SEQUENCE', plain],
  ['EXT-X-DISCONTINUITY-SEQUENCE', plain],
  ['EXT-X-ENDLIST', tag(null, { isEnding: true })],
  ['EXT-X-PLAYLIST-TYPE', plain],
  ['EXT-X-I-FRAMES-ONLY', plain],
  // A master playlist.
  [
    'EXT-X-MEDIA',
    tag(
      'TYPE URI GROUP-ID LANGUAGE ASSOC-LANGUAGE NAME STABLE-RENDITION-ID DEFAULT AUTOSELECT FORCED INSTREAM-ID BIT-DEPTH ' +
        'SAMPLE-RATE CHARACTERISTICS CHANNELS',
      { refers: 'playlist', isEnding: true },
    ),
  ],
  [streamTag, tag(variant, { isEnding: true })],
  ['EXT-X-I-FRAME-STREAM-INF', tag(`${variant} URI`, { refers: 'playlist', isEnding: true })],
  ['EXT-X-SESSION-DATA', tag('DATA-ID VALUE URI FORMAT LANGUAGE', { refers: 'object' })],
  ['EXT-X-SESSION-KEY', key],
]);

/** A reference of a playlist to another file, as an object key below the base path. */
export interface PlaylistReference {
  /** `playlist`: a variant stream or a rendition, which is a playlist too. */
  readonly kind: 'object' | 'playlist';
  readonly key: string;
}

/** A piece of the work of reading. The reader may yield before the next one. */
interface PlaylistStep {
  /** The bytes that the next step reads. */
  readonly bytes: number;
  /** The text to write for the line that was read, with references in their places. */
  readonly parts: readonly (string | PlaylistReference)[];
  /** Whether the line says that players may keep the playlist: it names its end, or lists only other playlists. */
  readonly isEnding: boolean;
}

/** The bytes of the largest playlist that is served. */
export const playlistBytesMax = 2 ** 20;
/** A segment has a line and up to four tags. */
const linesMax = 50_000;
const referencesMax = 10_000;
/** Bytes of a line. References of 1,024 bytes are below, also where each byte is percent-encoded. */
const lineMax = 16_384;
/** Bytes that are looked through at once before the first line is read. */
const sliceBytes = 16_384;

/**
 * Reads a playlist of HTTP Live Streaming (RFC 8216), a line in each step. Its lines are bounded before the first one is
 * read. Relative references lead into the folder of the playlist, and `..` may not leave it. An absolute URL, a path from the
 * root and variables are refused. Comments, and tags and attributes that are not known, are left out: players ignore what is absent.
 * @param objectKey the key of the playlist below the base path
 * @throws CommandRejected playlist_not_served, naming the line
 */
export function* readPlaylist(bytes: Buffer, objectKey: string): Generator<PlaylistStep, void> {
  yield* boundLines(bytes);
  const reader = makeLineReader(objectKey.slice(0, objectKey.lastIndexOf('/') + 1));
  let [number, read] = [0, nothing];
  for (let from = 0; from < bytes.length || number === 0;) {
    const end = lineEnd(bytes, from);
    yield { ...read, bytes: end - from };
    number += 1;
    read = reader(textOf(bytes.subarray(from, end), number), number);
    from = end + (bytes[end] === cr && bytes[end + 1] === lf ? 2 : 1);
  }
  yield { ...read, bytes: 0 };
}

const [lf, cr] = [0x0a, 0x0d];

/** Some players take a single CR as the end of a line, so a reference must not hide behind one. */
function lineEnd(bytes: Buffer, from: number): number {
  let end = from;
  while (end < bytes.length && bytes[end] !== lf && bytes[end] !== cr) end += 1;
  return end;
}

/** Refuses too many lines, and one that is too long, before anything else looks at them. */
function* boundLines(bytes: Buffer): Generator<PlaylistStep, void> {
  let [lines, begin] = [1, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    if (at - begin === lineMax && bytes[at] !== lf && bytes[at] !== cr)
      refuse(lines, `has more than ${lineMax} bytes`);
    if (bytes[at] === lf || (bytes[at] === cr && bytes[at + 1] !== lf)) {
      lines += 1;
      begin = at + 1;
    }
    if (lines > linesMax) refuse(lines, `is beyond ${linesMax} lines`);
    if (at % sliceBytes === 0) yield { bytes: sliceBytes, parts: [], isEnding: false };
  }
}

/** Makes the reader of the lines after one another. @param folder that of the playlist, with its slash */
function makeLineReader(folder: string): (text: string, number: number) => Omit<PlaylistStep, 'bytes'> {
  let references = 0;
  let isVariant = false;
  const refer = (kind: PlaylistReference['kind'], uri: string, number: number): PlaylistReference => {
    references += 1;
    if (references > referencesMax) refuse(number, `is beyond ${referencesMax} references`);
    return { kind, key: folder + relativeKey(uri, number) };
  };
  return (text, number) => {
    const [line, name] = [text.trim(), tagOf(text.trimStart())];
    if (number === 1 && !text.startsWith('#EXTM3U')) refuse(1, 'is not #EXTM3U');
    if (name === null) {
      if (line === '' || line.startsWith('#')) return nothing;
      const reference = refer(isVariant ? 'playlist' : 'object', line, number);
      isVariant = false;
      return { parts: [reference, '\n'], isEnding: false };
    }
    if (name === 'EXT-X-DEFINE') refuse(number, 'defines a variable');
    const known = knownTags.get(name);
    if (known === undefined) return nothing;
    isVariant ||= name === streamTag;
    const { attributes, isEnding } = known;
    if (attributes === null) return isPlain(line, name) ? { parts: [`${line}\n`], isEnding } : nothing;
    return { parts: writtenTag({ name, known, line, number }, refer), isEnding };
  };
}

const nothing: Omit<PlaylistStep, 'bytes'> = { parts: [], isEnding: false };

function isPlain(line: string, name: string): boolean {
  return name === 'EXTINF' || /^[A-Z0-9-]*(?::[A-Za-z0-9@:.+-]*)?$/.test(line.slice(1));
}

/** Returns the name of the tag in a line; null for a line without one. */
function tagOf(line: string): string | null {
  return /^#(EXT[A-Z0-9-]*)/.exec(line)?.[1] ?? null;
}

interface TagLine {
  readonly name: string;
  readonly known: KnownTag;
  readonly line: string;
  readonly number: number;
}

/** Writes a tag from its known attributes, so that no player finds another meaning in the line. */
function writtenTag(
  { name, known, line, number }: TagLine,
  refer: (kind: PlaylistReference['kind'], uri: string, number: number) => PlaylistReference,
): readonly (string | PlaylistReference)[] {
  const parts: (string | PlaylistReference)[] = [`#${name}:`];
  let isFirst = true;
  for (const [attribute, value] of attributesOf(line.slice(name.length + 1), number)) {
    if (known.attributes?.has(attribute) !== true) continue;
    parts.push(`${isFirst ? '' : ','}${attribute}=`);
    isFirst = false;
    if (attribute === 'URI') parts.push(...writtenUri({ name, known, value, number }, refer));
    else if (known.refers !== null && /URI *=/i.test(value)) refuse(number, 'does not have one URI');
    else parts.push(value);
  }
  return [...parts, '\n'];
}

function writtenUri(
  { name, known, value, number }: Omit<TagLine, 'line'> & { readonly value: string },
  refer: (kind: PlaylistReference['kind'], uri: string, number: number) => PlaylistReference,
): readonly (string | PlaylistReference)[] {
  if (!value.startsWith('"')) refuse(number, 'does not have its URI in quotation marks');
  const uri = value.slice(1, -1).trim();
  // The system for protected content resolves it, and not the player.
  if (keyTags.has(name) && /^(?:skd|data|urn):/i.test(uri)) return [value];
  return ['"', refer(known.refers ?? 'object', uri, number), '"'];
}

/** Reads a list of attributes (RFC 8216, section 4.2), with blanks around the commas as some tools write them. */
function attributesOf(text: string, number: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const pattern = /[ \t]*([A-Z0-9-]+)=("[^"]*"|[^",\s]*)[ \t]*(?:,|$)/y;
  pattern.lastIndex = text.startsWith(':') ? 1 : 0;
  while (pattern.lastIndex < text.length) {
    const [, name = '', value = ''] =
      pattern.exec(text) ?? refuse(number, 'has attributes that RFC 8216 does not know');
    if (found.has(name)) refuse(number, `has ${name} twice`);
    found.set(name, value);
  }
  return found;
}

/** Returns the key below the folder of the playlist. Query and fragment of a reference do not count. */
function relativeKey(uri: string, line: number): string {
  const path = uri.split(/[?#]/, 1)[0] ?? '';
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri)) refuse(line, 'is an absolute URL; name files in the folder');
  if (/^[/\\]/.test(path)) refuse(line, 'begins at the root; name files in the folder');
  const segments = path
    .split('/')
    .map((segment) => decodeUri(segment) ?? refuse(line, 'has a percent sign that begins no character'))
    .filter((segment) => segment !== '.');
  if (segments.some((segment) => /[/\\]/.test(segment))) refuse(line, 'leaves the folder of the playlist');
  const resolved: string[] = [];
  for (const segment of segments) {
    if (segment !== '..') resolved.push(segment);
    else if (resolved.pop() === undefined) refuse(line, 'leaves the folder of the playlist');
  }
  // A name of dots at the end is a folder.
  const key = segments.at(-1) === '..' ? '' : resolved.join('/');
  if (key === '' || key.endsWith('/') || !isPrintable(key)) refuse(line, 'names no file');
  return key;
}

function textOf(bytes: Buffer, line: number): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : refuse(line, 'is not UTF-8');
}

function refuse(line: number, why: string): never {
  return rejectAsset('playlist_not_served', `line ${line} of the playlist ${why}`);
}
