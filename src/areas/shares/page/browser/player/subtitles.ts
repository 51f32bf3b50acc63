import { makeElement } from '../../../../../http/pages/browser/elements.js';
import { essenceOf } from './candidates.js';
import type { ShareFormats } from './formats.js';
import { webVttOf } from './web-vtt.js';
import type { MediaFile, SharedFile } from '../opening/share-reply.js';

const subtitleTypes: ReadonlySet<string> = new Set([
  'text/vtt',
  'application/x-subrip',
  'text/srt',
  'application/srt',
]);
const subtitleMsMax = 20_000;
const subtitleBytesMax = 4_000_000;

/**
 * Adds the subtitles of a file to its player. A browser loads no track from another origin unless the video itself is fetched
 * with CORS, and then a bucket without a rule for it would play nothing. So the script reads the track alone.
 * @returns whether all were loaded
 */
export async function addSubtitles(
  player: HTMLVideoElement,
  file: SharedFile,
  formats: ShareFormats,
): Promise<boolean> {
  const found = file.media.filter(
    ({ kind, media_type }) => kind === 'subtitles' || subtitleTypes.has(essenceOf(media_type)),
  );
  const texts = await Promise.all(found.map(readSubtitles));
  for (const [place, text] of texts.entries()) {
    const language = found[place]?.language ?? '';
    if (text === null) continue;
    const url = URL.createObjectURL(new Blob([webVttOf(text)], { type: 'text/vtt' }));
    const label = language === '' ? '' : formats.languageName(language);
    player.append(makeElement('track', { kind: 'subtitles', src: url, srclang: language, label }));
  }
  return texts.every((text) => text !== null);
}

/** Returns null where the bucket has no CORS rule for this page, or the file is missing or too large. */
async function readSubtitles({ url }: MediaFile): Promise<string | null> {
  try {
    const response = await fetch(url, {
      ...{ credentials: 'omit', referrerPolicy: 'no-referrer' },
      signal: AbortSignal.timeout(subtitleMsMax),
    });
    if (!response.ok || Number(response.headers.get('content-length')) > subtitleBytesMax) return null;
    return await response.text();
  } catch {
    return null;
  }
}
