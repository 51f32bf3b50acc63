import { createHash } from 'node:crypto';
import { contentTag } from '../etag.js';
import type { PreparedBody } from '../reply.js';
import { sharePageScript } from './share-page-script.js';
import { sharePageStyle } from './share-page-style.js';

/** The same for every token, so that it tells nothing of any. */
const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow"><link rel="icon" href="data:,"><title>Shared media</title><style>${sharePageStyle}</style></head>
<body><main>
<form id="ask" hidden novalidate>
<h1>Shared with you</h1>
<p class="faint" id="hint">Type the password that you were given for this link.</p>
<label for="password">Password</label>
<input id="password" type="password" autocomplete="off" autocapitalize="none" spellcheck="false" required aria-describedby="hint alarm">
<button id="open">Open</button>
<p class="alarm" id="alarm" role="alert"></p>
</form>
<section id="opened" hidden aria-labelledby="title">
<h1 id="title" tabindex="-1"></h1>
<p class="faint" id="facts"></p>
<div class="media" id="media"></div>
<p class="alarm" id="note" role="status"></p>
<div id="links"></div>
</section>
<noscript><h1>Shared with you</h1><p>This page needs JavaScript to check the password and to show the media.</p></noscript>
</main><script>${sharePageScript}</script></body></html>
`;

/**
 * The page that opens a share (DESIGN 4.4). Where the media is becomes known with the password, so the policy allows
 * images and media of any https origin; with the first reply the page narrows that to the origins it names.
 * @param allowsHttp whether storages may be reached without TLS, as within a private network
 */
export function makeSharePage({ allowsHttp }: { readonly allowsHttp: boolean }): PreparedBody {
  const media = allowsHttp ? 'https: http:' : 'https:';
  return {
    bytes: Buffer.from(html),
    tag: contentTag(html),
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src '${digestOf(sharePageScript)}'`,
      `style-src '${digestOf(sharePageStyle)}'`,
      `img-src data: ${media}`,
      `media-src ${media}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
    isIndexed: false,
  };
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
