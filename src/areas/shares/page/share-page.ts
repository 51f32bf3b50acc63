import { escapeMarkup } from '../../../validation/text.js';
import { type PreparedBody, contentTag } from '../../../http/replies/reply.js';
import { preparePage, readPageScript } from '../../../http/pages/prepare-page.js';
import { type ShareTexts, negotiateLanguage, readShareTexts } from './negotiate-language.js';
import { sharePageStyle } from './share-page-style.js';

/** Icons by id, drawn in a field of 24 by 24. A `path` of the page script names one by `#icon-<id>`. */
const icons = {
  image: '<path d="M4 5h16v14H4z"/><circle cx="9" cy="10" r="1.6"/><path d="m5 18 5-5 3 3 3-4 4 5"/>',
  video: '<path d="M4 5h16v14H4z"/><path d="m10 9 5 3-5 3z"/>',
  audio: '<path d="M9 18V6l10-2v12"/><circle cx="6.5" cy="18" r="2.5"/><circle cx="16.5" cy="16" r="2.5"/>',
  document: '<path d="M6 3h8l4 4v14H6z"/><path d="M14 3v4h4M9 12h6M9 16h6"/>',
  archive: '<path d="M6 3h8l4 4v14H6z"/><path d="M14 3v4h4M11 8h2M11 11h2M11 14h2v4h-2z"/>',
  file: '<path d="M6 3h8l4 4v14H6z"/><path d="M14 3v4h4"/>',
  lock: '<path d="M6 11h12v9H6z"/><path d="M8.5 11V8a3.5 3.5 0 0 1 7 0v3M12 14.5v2"/>',
  eye: '<path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z"/><circle cx="12" cy="12" r="3"/>',
  'eye-off':
    '<path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z"/><circle cx="12" cy="12" r="3"/><path d="m4 4 16 16"/>',
  download: '<path d="M12 4v11m0 0 4.5-4.5M12 15l-4.5-4.5M5 20h14"/>',
  broken: '<path d="M4 5h16v14H4z"/><path d="m9 9 6 6m0-6-6 6"/>',
  link: '<path d="M9 7H7a5 5 0 0 0 0 10h2m6-10h2a5 5 0 0 1 3.5 8.5M9 12h4M4 4l16 16"/>',
  back: '<path d="m14.5 5-7 7 7 7"/>',
  next: '<path d="m9.5 5 7 7-7 7"/>',
} as const;

const symbols = Object.entries(icons)
  .map(([id, shapes]) => `<symbol id="icon-${id}" viewBox="0 0 24 24">${shapes}</symbol>`)
  .join('');

function icon(id: keyof typeof icons): string {
  return `<svg class="icon" aria-hidden="true"><use href="#icon-${id}"/></svg>`;
}

/** Makes the markup of the page. @param text returns a text of the visitor's language, escaped for markup */
function makeSharePageBody(text: (key: string) => string): string {
  return `<svg class="symbols" aria-hidden="true">${symbols}</svg>
<header class="bar" id="bar" hidden><div><span class="mark"id="mark" aria-hidden="true"></span><span class="project" id="project" dir="auto"></span></div></header>
<main>
<p class="loading" id="loading" role="status" hidden><span class="spinner" aria-hidden="true"></span>${text('page.loading')}</p>
<form class="card" id="ask" hidden novalidate>
<span class="badge">${icon('lock')}</span>
<h1>${text('ask.heading')}</h1>
<p class="faint" id="hint">${text('ask.hint')}</p>
<label for="password">${text('ask.password')}</label>
<div class="field"><input id="password" type="password" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="512" aria-describedby="hint alarm">
<button type="button" class="quiet" id="reveal" aria-pressed="false" aria-controls="password" aria-label="${text('ask.reveal')}" title="${text('ask.reveal')}">${icon('eye')}${icon('eye-off')}</button></div>
<p class="alarm" id="alarm" role="alert"></p>
<p class="faint wait" id="wait" hidden></p>
<button class="main" id="open">${text('ask.open')}</button>
</form>
<section class="card notice" id="notice" aria-labelledby="notice-heading" hidden>
<span class="badge">${icon('link')}</span>
<h1 id="notice-heading" tabindex="-1"></h1>
<p class="faint" id="notice-text"></p>
<p class="faint wait" id="notice-wait" hidden></p>
<button class="main" type="button" id="again" hidden></button>
</section>
<section id="opened" aria-labelledby="title" hidden>
<div class="head">
<div class="about"><h1 id="title" tabindex="-1" dir="auto"></h1><p class="faint facts" id="facts"></p></div>
<div class="actions" id="actions"></div>
</div>
<figure class="sender" id="sender" hidden><figcaption>${text('sender.note')}</figcaption><blockquote id="sender-note" dir="auto" tabindex="0"></blockquote></figure>
<div class="turn" id="turn" hidden>
<button type="button" class="quiet" id="previous" aria-label="${text('gallery.previous')}" title="${text('gallery.previous')}">${icon('back')}</button>
<p id="place"><bdi id="place-name"></bdi> <span class="faint" id="place-count"></span></p>
<button type="button" class="quiet" id="next" aria-label="${text('gallery.next')}" title="${text('gallery.next')}">${icon('next')}</button>
</div>
<div class="stage" id="stage"></div>
<p class="remark" id="remark" role="status"></p>
<section id="files" aria-labelledby="files-heading" hidden><h2 id="files-heading">${text('gallery.heading')}</h2><button type="button" class="second" id="download-all" hidden>${text('file.download.all')}</button><p class="faint" id="download-state" role="status"></p><ul class="gallery" id="gallery"></ul></section>
<details id="versions" hidden><summary>${text('file.versions')}</summary><ul id="version-list"></ul></details>
</section>
<noscript><div class="card"><h1>${text('ask.heading')}</h1><p>${text('page.script')}</p></div></noscript>
</main>`;
}

const nowhere = "frame-ancestors 'none'";

/**
 * Lets pages of these origins show a prepared page in a frame (CSP Level 3, `frame-ancestors`). The entity tag names the
 * origins, so a browser does not keep the policy of before. Without origins the page stays as it is.
 * @param ancestors origins as `checkFraming` returns them
 */
export function framedBy(page: PreparedBody, ancestors: readonly string[]): PreparedBody {
  if (ancestors.length === 0) return page;
  const policy = page.contentSecurityPolicy ?? nowhere;
  const contentSecurityPolicy = policy.replace(nowhere, `frame-ancestors ${ancestors.join(' ')}`);
  return { ...page, contentSecurityPolicy, tag: contentTag(`${page.tag} ${contentSecurityPolicy}`) };
}

/**
 * Makes the page that opens a share (src/areas/shares/README.md#share-page), in the visitor's language. It is the same for every token,
 * so it reveals nothing about a token. It is prepared at the first request. Before the password the origin of the media is unknown, so
 * the policy allows https; the page then restricts it.
 * @param allowsHttp whether storages may be reached without TLS
 */
export function makeSharePage({ allowsHttp }: { readonly allowsHttp: boolean }) {
  let languages: ReturnType<typeof prepareLanguages> | undefined;
  return (acceptLanguage: string | undefined): PreparedBody => {
    languages ??= prepareLanguages(allowsHttp ? 'https: http:' : 'https:');
    return negotiateLanguage(acceptLanguage, languages).prepared;
  };
}

/** @param media the sources of media in the policy */
function prepareLanguages(media: string) {
  const script = readPageScript('share');
  const sources = [
    `img-src data: ${media}`,
    // Subtitles become `blob:` after the script has read them.
    `media-src 'self' blob: ${media}`,
    `frame-src ${media}`,
  ];
  const connect = `'self' ${media}`;
  const [english, ...others] = readShareTexts();
  const prepare = ({ language, tag, texts }: ShareTexts) => ({
    ...{ language, tag },
    prepared: preparePage({
      ...{ html: makeHtml({ tag, texts }, script), script, style: sharePageStyle },
      ...{ sources, connect, language: tag },
    }),
  });
  return [prepare(english), ...others.map(prepare)] as const;
}

function makeHtml({ tag, texts }: Pick<ShareTexts, 'tag' | 'texts'>, script: string): string {
  // In a script element only `<` could end the data.
  const data = JSON.stringify({ tag, texts }).replaceAll('<', String.raw`\u003c`);
  return `<!doctype html>
<html lang="${tag}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow"><meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<title>${escapeMarkup(texts['page.title'] ?? '')}</title><style>${sharePageStyle}</style></head>
<body>${makeSharePageBody((key) => escapeMarkup(texts[key] ?? missingText(key)))}
<script type="application/json" id="texts">${data}</script><script type="module">${script}</script></body></html>
`;
}

function missingText(key: string): never {
  throw new Error(`the texts of the page of shares lack ${key}`);
}
