import type { MediaLink } from '../../../assets/commands/media/media-links.js';

/** Types of documents that browsers show in a frame. */
const documentTypes: ReadonlySet<string> = new Set(['application/pdf', 'text/plain']);

/** Returns whether browsers show files of a media type in a frame. Parameters do not count. */
export function isFramedDocument(mediaType: string): boolean {
  return documentTypes.has((mediaType.split(';')[0] ?? '').trim().toLowerCase());
}

/**
 * Adds to each document the URL that shows it: the share's own URL may save it, and a link cannot change that for another origin.
 * @param saved the links of the share
 * @param shown links of the same files, in the same order, with the disposition `inline`
 */
export function addDocumentLinks(saved: readonly MediaLink[], shown: readonly MediaLink[]): MediaLink[] {
  return saved.map((link, place) => {
    const inline = isFramedDocument(link.media_type) ? shown[place] : undefined;
    return inline === undefined ? link : { ...link, inline_url: inline.url };
  });
}
