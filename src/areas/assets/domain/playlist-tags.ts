/*
 * The tags of playlists that the service passes on, with their attributes (RFC 8216, section 4.3; RFC 8216bis, section 4.4).
 * Every other tag and attribute is left out: a player ignores what is absent, and may fetch what an unknown one names.
 */

/** How a tag is written on: as it is, or from its attributes. */
export interface KnownTag {
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
export const streamTag = 'EXT-X-STREAM-INF';
export const keyTags: ReadonlySet<string> = new Set(['EXT-X-KEY', 'EXT-X-SESSION-KEY']);

export const knownTags: ReadonlyMap<string, KnownTag> = new Map([
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
  ['EXT-X-GAP', plain],
  ['EXT-X-BITRATE', plain],
  ['EXT-X-PART', tag('URI DURATION INDEPENDENT BYTERANGE GAP', { refers: 'object' })],
  [
    'EXT-X-DATERANGE',
    tag(
      'ID CLASS START-DATE CUE END-DATE DURATION PLANNED-DURATION SCTE35-CMD SCTE35-OUT SCTE35-IN END-ON-NEXT',
    ),
  ],
  ['EXT-X-SKIP', tag('SKIPPED-SEGMENTS RECENTLY-REMOVED-DATERANGES')],
  ['EXT-X-PRELOAD-HINT', tag('TYPE URI BYTERANGE-START BYTERANGE-LENGTH', { refers: 'object' })],
  // A media playlist.
  ['EXT-X-TARGETDURATION', plain],
  ['EXT-X-MEDIA-SEQUENCE', plain],
  ['EXT-X-DISCONTINUITY-SEQUENCE', plain],
  ['EXT-X-ENDLIST', tag(null, { isEnding: true })],
  ['EXT-X-PLAYLIST-TYPE', plain],
  ['EXT-X-I-FRAMES-ONLY', plain],
  ['EXT-X-PART-INF', tag('PART-TARGET')],
  ['EXT-X-ALLOW-CACHE', plain],
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
