import type { MediaFile, SharedFile } from '../opening/share-reply.js';

type ViewerKind = 'image' | 'video' | 'audio' | 'document';

/** A file that the page can try to show, and the element that shows it. */
export type PreviewCandidate = { readonly viewer: ViewerKind; readonly file: MediaFile };

/** What this browser can show. */
export interface Abilities {
  /** As `HTMLMediaElement.canPlayType`: an empty text where it cannot. */
  readonly canPlay: (viewer: 'video' | 'audio', mediaType: string) => string;
  /** Whether a document can be shown inside of the page. Phones show one page of a PDF, or none. */
  readonly showsDocuments: boolean;
  /** Whether a PDF can be shown in a tab. */
  readonly opensDocuments: boolean;
}

/** The image types that all browsers show since 2024. HEIC, TIFF and PSD are not among them. */
const imageTypes: ReadonlySet<string> = new Set([
  ...['image/png', 'image/apng', 'image/jpeg', 'image/jpg', 'image/gif', 'image/webp', 'image/avif'],
  ...['image/svg+xml', 'image/bmp', 'image/x-icon', 'image/vnd.microsoft.icon'],
]);
const documentTypes: ReadonlySet<string> = new Set(['application/pdf', 'text/plain']);
const playlistTypes: ReadonlySet<string> = new Set([
  ...['application/vnd.apple.mpegurl', 'application/x-mpegurl', 'audio/mpegurl', 'audio/x-mpegurl'],
]);

/** Bytes from which an original image comes after each smaller rendition. */
const largeImageBytes = 25_000_000;

/** Returns the essence of a media type: lower case, without parameters. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}

/** Returns the renditions that a visitor may save. The file of a stream is a list of URLs that end soon. */
export function savedVersionsOf({ media: [, ...renditions] }: SharedFile): readonly MediaFile[] {
  return renditions.filter(({ kind }) => kind !== 'hls');
}

/** Returns whether all browsers show an image of the type. */
function isShownImage(mediaType: string): boolean {
  return imageTypes.has(essenceOf(mediaType));
}

/**
 * Returns the files to try, the best one first: a rendition for browsers before the original, what moves or has pages before a
 * still image of it, and an original of a type that the browser does not claim to play after those that it does.
 */
export function candidatesOf(shared: SharedFile, abilities: Abilities): readonly PreviewCandidate[] {
  const own = viewerOf(shared.media_type, abilities);
  return shared.media
    .flatMap((file, place) => {
      const viewer = viewerOfFile(file, shared, abilities);
      return viewer === null
        ? []
        : [
            {
              candidate: { viewer, file },
              rank: [viewerRank(viewer, own), fileRank(file, viewer, shared, abilities), place],
            },
          ];
    })
    .sort((one, other) => compareRanks(one.rank, other.rank))
    .map(({ candidate }) => candidate);
}

/** Returns the URL that shows a document in a tab, where the page cannot show it and the browser can; null for none. */
export function apartUrlOf(
  { media: [own] }: SharedFile,
  { showsDocuments, opensDocuments }: Abilities,
): string | null {
  if (own === undefined || showsDocuments) return null;
  return opensDocuments || essenceOf(own.media_type) === 'text/plain' ? (own.inline_url ?? null) : null;
}

/** Returns the image for a tile of the gallery and for a player's cover; null where no small image exists. */
export function stillOf({ media, size }: SharedFile, wanted: 'thumbnail' | 'poster'): MediaFile | null {
  const images = media.filter(
    ({ media_type, kind }) => isShownImage(media_type) && (kind !== 'original' || size < 2_000_000),
  );
  const order =
    wanted === 'thumbnail' ? ['thumbnail', 'preview', 'poster'] : ['poster', 'preview', 'thumbnail'];
  for (const kind of order) {
    const found = images.find((image) => image.kind === kind);
    if (found !== undefined) return found;
  }
  return images[0] ?? null;
}

function viewerOfFile(file: MediaFile, shared: SharedFile, abilities: Abilities): ViewerKind | null {
  if (file.kind === 'subtitles') return null;
  const essence = essenceOf(file.media_type);
  if (playlistTypes.has(essence)) {
    const viewer = essenceOf(shared.media_type).startsWith('audio/') ? 'audio' : 'video';
    return abilities.canPlay(viewer, essence) === '' ? null : viewer;
  }
  const viewer = viewerOf(essence, abilities);
  return viewer === 'document' && (file.inline_url ?? null) === null ? null : viewer;
}

function viewerOf(mediaType: string, abilities: Abilities): ViewerKind | null {
  const essence = essenceOf(mediaType);
  if (essence.startsWith('video/')) return 'video';
  if (essence.startsWith('audio/')) return 'audio';
  if (imageTypes.has(essence)) return 'image';
  return documentTypes.has(essence) && abilities.showsDocuments ? 'document' : null;
}

function viewerRank(viewer: ViewerKind, own: ViewerKind | null): number {
  if (viewer === own) return 0;
  return 1 + ['video', 'audio', 'document', 'image'].indexOf(viewer);
}

function fileRank(file: MediaFile, viewer: ViewerKind, { size }: SharedFile, { canPlay }: Abilities): number {
  const isMoving = viewer === 'video' || viewer === 'audio';
  const order = isMoving
    ? ['preview', 'hls', 'original']
    : ['preview', 'original', 'poster', 'rendition', 'thumbnail'];
  const place = order.indexOf(file.kind);
  const rank = place === -1 ? 3 : place;
  if (isMoving && canPlay(viewer, file.media_type) === '') return 10 + rank;
  return viewer === 'image' && file.kind === 'original' && size > largeImageBytes ? 10 : rank;
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  for (const [place, rank] of one.entries()) {
    const difference = rank - (other[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
