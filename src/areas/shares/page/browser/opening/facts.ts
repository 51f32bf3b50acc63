import { essenceOf } from '../player/candidates.js';
import type { ShareFormats } from '../player/formats.js';
import type { SharedFile, SharedTerms } from './share-reply.js';
import type { ShareWords } from '../texts.js';

/** The kinds of files that the texts have a word for. */
export type FileKind =
  'image' | 'video' | 'audio' | 'pdf' | 'text' | 'document' | 'sheet' | 'slides' | 'archive' | 'file';

/** Patterns of media types, the first of which decides. */
const kindPatterns: readonly (readonly [RegExp, FileKind])[] = [
  [/^image\//, 'image'],
  [/^video\/|mpegurl$/, 'video'],
  [/^audio\//, 'audio'],
  [/^application\/pdf$/, 'pdf'],
  [/spreadsheet|ms-excel|^text\/csv$/, 'sheet'],
  [/presentation|ms-powerpoint/, 'slides'],
  [/msword|wordprocessing|opendocument\.text|^application\/rtf$/, 'document'],
  [/zip|x-tar|x-7z|gzip|vnd\.rar|x-rar|x-bzip/, 'archive'],
  [/^text\//, 'text'],
];

/** Names of formats that their subtype does not spell. */
const formatNames: Readonly<Record<string, string>> = {
  'image/jpeg': 'JPEG',
  'image/svg+xml': 'SVG',
  'image/vnd.adobe.photoshop': 'Photoshop',
  'video/quicktime': 'QuickTime',
  'video/x-matroska': 'Matroska',
  'video/webm': 'WebM',
  'audio/mpeg': 'MP3',
  'audio/x-wav': 'WAV',
  'audio/mp4': 'AAC',
  'audio/ogg': 'Ogg',
  'application/vnd.apple.mpegurl': 'HLS',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PowerPoint',
  'application/msword': 'Word',
  'application/vnd.ms-excel': 'Excel',
  'application/vnd.ms-powerpoint': 'PowerPoint',
  'application/x-7z-compressed': '7-Zip',
  'application/octet-stream': '',
  'application/pdf': '',
  'text/plain': '',
};

export function fileKindOf(mediaType: string): FileKind {
  const essence = essenceOf(mediaType);
  return kindPatterns.find(([pattern]) => pattern.test(essence))?.[1] ?? 'file';
}

/** Returns the kind of a file in words, with its format where people know its name: `Video (MP4)`. */
export function describeKind(mediaType: string, { say }: Pick<ShareWords, 'say'>): string {
  const essence = essenceOf(mediaType);
  const subtype = (essence.split('/')[1] ?? '').replace(/^x-/, '');
  const format = formatNames[essence] ?? (/^[a-z0-9]{2,5}$/.test(subtype) ? subtype.toUpperCase() : '');
  const kind = say(`kind.${fileKindOf(mediaType)}`);
  return format === '' ? kind : `${kind} (${format})`;
}

/** Returns the facts of a file and of the share's terms, for one line each. */
export function describeShare(
  { share, files }: { readonly share: SharedTerms; readonly files: readonly SharedFile[] },
  words: ShareWords,
  formats: ShareFormats,
  now = new Date(),
): readonly string[] {
  const { expires_at: end, remaining_uses: uses, sender = null } = share;
  const [only, ...others] = files;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return [
    ...(sender === null ? [] : [words.say('file.sender', { name: sender })]),
    only !== undefined && others.length === 0
      ? describeKind(only.media_type, words)
      : words.sayCount('file.count', files.length, formats.count(files.length)),
    formats.size(bytes),
    ...(end === null ? [] : [words.say('file.until', { date: formats.end(new Date(end), now) })]),
    ...(uses === null ? [] : [words.sayCount('file.uses', uses, formats.count(uses))]),
  ];
}
