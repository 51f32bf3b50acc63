import test from 'ava';
import type { MediaLink } from '../../../../src/areas/assets/commands/media-links.js';
import { addDocumentLinks } from '../../../../src/areas/shares/commands/visiting/verify-share.js';

test('A PDF and a text get a URL that shows them, and no other file does', (t) => {
  // Given links that save the files, and links that show them
  const types = ['application/pdf', 'text/plain; charset=utf-8', 'image/png', 'text/html', 'application/zip'];
  const links = (disposition: string): readonly MediaLink[] =>
    types.map((media_type, place) => ({
      ...{
        kind: 'original',
        url: `https://bucket.example/${place}?${disposition}`,
        method: 'GET',
        media_type,
      },
      expires_at: '2026-11-23T04:00:00Z',
    }));
  // When the share makes its links
  const made = addDocumentLinks(links('attachment'), links('inline'));
  // Then the URLs that save stay, and only documents have another one
  t.deepEqual(
    made.map(({ url }) => url.endsWith('?attachment')),
    types.map(() => true),
  );
  t.deepEqual(
    made.map(({ inline_url: shown }) => shown),
    ['https://bucket.example/0?inline', 'https://bucket.example/1?inline', undefined, undefined, undefined],
  );
});
