import { makeElement } from '../../../../../http/pages/browser/elements.js';
import { type PreviewCandidate, stillOf } from './candidates.js';
import type { SharedFile } from '../opening/share-reply.js';

/**
 * Restricts the page to the origins of the media. A later policy cannot allow more, so the page reloads for another origin; the
 * kept session opens the share again.
 * @returns false while the page reloads
 */
export function allowOriginsOf(files: readonly SharedFile[]): boolean {
  const urls = files.flatMap(({ media }) =>
    media.flatMap(({ url, inline_url: shown }) => [url, shown ?? url]),
  );
  const origins = [...new Set(urls.map((url) => new URL(url, location.href).origin))];
  const known = document.head.querySelector<HTMLMetaElement>('meta[data-origins]');
  if (known !== null) {
    const allowed = (known.dataset['origins'] ?? '').split(' ');
    if (origins.every((origin) => allowed.includes(origin))) return true;
    location.reload();
    return false;
  }
  const meta = document.createElement('meta');
  const list = origins.join(' ');
  meta.httpEquiv = 'Content-Security-Policy';
  meta.content = `img-src data: ${list}; media-src blob: ${list}; frame-src ${list}; connect-src 'self' ${list}`;
  meta.dataset['origins'] = list;
  document.head.append(meta);
  return true;
}

/** The element that shows a candidate, with the events by which it reports. */
export interface Player {
  readonly element: HTMLElement;
  /** The element that plays; null for images and documents. */
  readonly media: HTMLMediaElement | null;
  /** The event after which there is something to see or to play. */
  readonly loadedBy: 'load' | 'loadedmetadata';
  /** The element that reports the event, and errors. */
  readonly source: HTMLElement;
  /** Begins to load. */
  readonly start: () => void;
}

/** Makes the element of a candidate. It loads nothing before `start`. */
export function makePlayer({ viewer, file }: PreviewCandidate, shared: SharedFile): Player {
  switch (viewer) {
    case 'image': {
      const image = makeElement('img', { alt: shared.name, decoding: 'async' });
      return still(image, () => {
        image.src = file.url;
      });
    }
    case 'document': {
      const frame = makeElement('iframe', { title: shared.name, referrerpolicy: 'no-referrer' });
      return still(frame, () => {
        frame.src = file.inline_url ?? file.url;
      });
    }
    case 'video':
    case 'audio':
      return moving(viewer, file.url, shared);
  }
}

function still(element: HTMLElement, start: () => void): Player {
  return { element, media: null, loadedBy: 'load', source: element, start };
}

function moving(viewer: 'video' | 'audio', url: string, shared: SharedFile): Player {
  const media = document.createElement(viewer);
  media.controls = true;
  media.preload = 'metadata';
  media.setAttribute('aria-label', shared.name);
  const cover = stillOf(shared, 'poster');
  let element: HTMLElement = media;
  if (media instanceof HTMLVideoElement) {
    media.playsInline = true;
    if (cover !== null) media.poster = cover.url;
  } else {
    element = makeElement('div', { class: 'sound' }, media);
    if (cover !== null) element.prepend(makeCover(cover.url));
  }
  const start = (): void => {
    media.src = url;
  };
  return { element, media, loadedBy: 'loadedmetadata', source: media, start };
}

/** A cover that does not load leaves no broken image. */
function makeCover(url: string): HTMLImageElement {
  const cover = makeElement('img', { alt: '', src: url });
  cover.addEventListener('error', () => cover.remove());
  return cover;
}
