import type { PreparedBody } from '../../../http/replies/reply.js';
import { preparePage, readPageScript } from '../../../http/pages/prepare-page.js';
import { negotiateLanguage } from './negotiate-language.js';
import { makeSharePageBody } from './share-page-body.js';
import { sharePageStyle } from './share-page-style.js';
import { type ShareTexts, readShareTexts } from './share-texts.js';
import { contentTag } from '../../../http/replies/etag.js';

const nowhere = "frame-ancestors 'none'";

/**
 * Lets pages of these origins show a prepared page in a frame (CSP Level 3, `frame-ancestors`). The entity tag names the
 * origins, so a browser does not keep the policy of before. Without origins the page stays as it is.
 * @param ancestors origins as `checkFrameAncestors` returns them
 */
export function framedBy(page: PreparedBody, ancestors: readonly string[]): PreparedBody {
  if (ancestors.length === 0) return page;
  const policy = page.contentSecurityPolicy ?? nowhere;
  const contentSecurityPolicy = policy.replace(nowhere, `frame-ancestors ${ancestors.join(' ')}`);
  return { ...page, contentSecurityPolicy, tag: contentTag(`${page.tag} ${contentSecurityPolicy}`) };
}

/** Returns the page in the visitor's language. It is the same for every token, so it reveals nothing about a token. */
export type SharePage = (acceptLanguage: string | undefined) => PreparedBody;

/**
 * Makes the page that opens a share (src/areas/shares/README.md#share-page). Before the password the origin of the media is
 * unknown, so the policy allows https; the page then restricts it.
 * @param allowsHttp whether storages may be reached without TLS
 */
export function makeSharePage({ allowsHttp }: { readonly allowsHttp: boolean }): SharePage {
  const script = readPageScript('share');
  const media = allowsHttp ? 'https: http:' : 'https:';
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
  const [first, ...rest] = [prepare(english), ...others.map(prepare)] as const;
  return (acceptLanguage) => negotiateLanguage(acceptLanguage, [first, ...rest]).prepared;
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

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function missingText(key: string): never {
  throw new Error(`the texts of the page of shares lack ${key}`);
}
