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
