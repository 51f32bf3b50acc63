import { createHash } from 'node:crypto';
import { renderFirstCalls } from '../document/openapi-texts.js';
import { type PreparedBody, contentTag, weakTag } from '../replies/reply.js';
import { z } from 'zod';
import { onceEach, openPackedFolder, policyOf } from './prepare-page.js';

const manifestSchema = z.strictObject({
  version: z.string(),
  /** A digest of all files. Their addresses contain it, so a file never changes under its address. */
  build: z.string().regex(/^[0-9a-f]{16}$/),
  entry: z.string(),
  /** The modules that the entry imports when it loads. */
  first: z.array(z.string()),
  files: z.array(z.string()),
});

/** The files of the reader, which `scripts/build-docs-reader.mjs` copies from its package. */
interface ReaderFiles {
  readonly build: string;
  readonly entry: string;
  readonly first: readonly string[];
  /** Returns a file by its name, such as `chunks/x.js`; null for a name that the reader does not have. */
  find(name: string): PreparedBody | null;
}

/** Opens the files of the reader. It reads each file once, at the first request for it. @throws Error when the build lacks them */
export function openReaderFiles(): ReaderFiles {
  const folder = openPackedFolder('docs-reader');
  const { build, entry, first, files } = manifestSchema.parse(folder.manifest());
  const known = new Set(files);
  const prepare = onceEach((name) => ({ ...folder.body(name), tag: weakTag(`${build} ${name}`) }));
  return { ...{ build, entry, first }, find: (name) => (known.has(name) ? prepare(name) : null) };
}

/** A long title in the bar of narrow screens would make the page scroll sideways. The other rules are for the text before the reader. */
const style = `.t-doc__header span { min-width: 0; overflow: hidden; text-overflow: ellipsis }
:root { color-scheme: light dark }
.first { max-width: 60rem; margin: 0 auto; padding: 1rem; font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere }
.first code { font-family: ui-monospace, monospace; font-size: .875em }
.first li { margin: .75rem 0 }`;

/** The text of the first screen, which stands until the reader shows its own. The element of the reader is empty, because the reader takes its content for its own. */
const firstScreen = `<main class="first">
<h1>Stowage API</h1>
<p>Every call of this service, with a form that sends it. <a href="/guides/">The guides</a> explain them, and
<a href="/openapi.json">OpenAPI 3.1</a> is the same for programs.</p>
${renderFirstCalls()}
<p role="status">The list of all calls is loading …</p>
</main>`;

/** Nothing in it leads to another origin: neither fonts nor telemetry, proxies, assistants or offers of the vendor. */
const settings = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
};

/**
 * Makes the page that shows the OpenAPI document to people (src/http/README.md#openapi-document). The reader adds style sheets
 * while it runs, and the text of some depends on what was open before. So their elements carry a nonce, fresh for each reply.
 * @param newNonce returns at least 128 random bits in base64
 */
export function makeDocsPage(
  { build, entry, first }: Pick<ReaderFiles, 'build' | 'entry' | 'first'>,
  newNonce: () => string,
): () => PreparedBody {
  const base = `/docs/reader/${build}/`;
  // Requests go to the origin of the page, also where PUBLIC_URL names another one: the policy refuses all others.
  // The reader reads the nonce for one of its style sheets from the meta element. The other elements get it when they are made.
  const script = `const { nonce } = document.querySelector('style');
const create = document.createElement.bind(document);
document.createElement = (name, options) => Object.assign(create(name, options), name === 'style' ? { nonce } : {});
const { createApiReference } = await import('${base}${entry}');
const settings = ${JSON.stringify(settings)};
const reader = document.querySelector('#reader');
new MutationObserver((_, watch) => {
  if (reader.querySelector('h1') === null) return;
  document.querySelector('.first').remove();
  watch.disconnect();
}).observe(reader, { childList: true, subtree: true });
createApiReference('#reader', { ...settings, servers: [{ url: location.origin }] });
`;
  const preloads = [entry, ...first]
    .map((name) => `<link rel="modulepreload" href="${base}${name}">`)
    .join('\n');
  return () => {
    const nonce = newNonce();
    const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta property="csp-nonce" content="${nonce}">
<title>Stowage API</title><link rel="icon" href="data:,">
<style nonce="${nonce}">${style}</style>
${preloads}
<link rel="preload" href="/openapi.json" as="fetch" crossorigin>
</head><body>${firstScreen}<div id="reader"></div>
<noscript>The list of all calls needs scripts.</noscript>
<script type="module">${script}</script></body></html>
`;
    return {
      bytes: Buffer.from(html),
      tag: contentTag(html),
      contentSecurityPolicy: policyOf([
        `script-src 'self' 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
        `style-src-elem 'nonce-${nonce}'`,
        // The reader writes positions and colours into attributes of its elements.
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
      ]),
    };
  };
}
