import type { PreparedBody } from '../reply.js';
import { preparePage } from './prepare-page.js';
import { sharePageScript } from './share-page-script.js';
import { sharePageStyle } from './share-page-style.js';

/** The page is the same for every token, so it reveals nothing about a token. */
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
 * Makes the page that opens a share (docs/design.md#share-page). Before the password the origin of the media is
 * unknown, so the policy allows https; the page then restricts it.
 * @param allowsHttp whether storages may be reached without TLS
 */
export function makeSharePage({ allowsHttp }: { readonly allowsHttp: boolean }): PreparedBody {
  const media = allowsHttp ? 'https: http:' : 'https:';
  return preparePage({
    ...{ html, script: sharePageScript, style: sharePageStyle },
    sources: [`img-src data: ${media}`, `media-src ${media}`],
  });
}
