import { z } from 'zod';
import { type PreparedBody, contentTag, weakTag } from '../replies/reply.js';
import { onceEach, openPackedFolder, policyOf } from './prepare-page.js';

const manifestSchema = z.strictObject({
  /** A digest of what the site was built from. */
  sources: z.string(),
  /** The digests of the scripts in each page, by the name of the file; of other files, none. */
  files: z.record(z.string(), z.array(z.string())),
});

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};

/** Finds a file of the guides by its path below /guides/, without slashes at its ends; null for a path that the site does not have. */
type FindGuide = (path: string) => PreparedBody | null;

/**
 * Opens the site that `scripts/build-site.mjs` has built. Without it every page says that the guides are not built. The site reads each
 * file once, at the first request for it. @throws Error when the build lacks a file
 */
export function openGuides(): FindGuide {
  const folder = openPackedFolder('guides');
  if (!folder.exists) return (path) => (path.includes('.') ? null : notBuilt());
  const { sources, files } = manifestSchema.parse(folder.manifest());
  const prepare = onceEach((name): PreparedBody => {
    const isAsset = name.startsWith('assets/');
    return {
      ...folder.body(name),
      tag: weakTag(`${sources} ${name}`),
      mediaType: mediaTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      // The name of an asset contains a digest of it.
      ...(isAsset ? { cacheControl: 'public, max-age=31536000, immutable' as const } : {}),
      ...(name.endsWith('.html') ? { contentSecurityPolicy: policyOfPage(files[name] ?? []) } : {}),
    };
  });
  return (path) => {
    const index = path === '' ? 'index.html' : `${path}/index.html`;
    const name = [path, `${path}.html`, index].find((one) => Object.hasOwn(files, one));
    return name === undefined ? null : prepare(name);
  };
}

/** The scripts of a page run by their digests. VitePress writes colours and positions into attributes of its elements. */
function policyOfPage(scripts: readonly string[]): string {
  return policyOf([
    `script-src 'self' ${scripts.map((digest) => `'${digest}'`).join(' ')}`,
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
  ]);
}

function notBuilt(): PreparedBody {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stowage guides</title><link rel="icon" href="data:,"></head><body><main><h1>This installation has no guides</h1>
<p>The command <code>npm run docs:site</code> in the clone builds them; packages and images contain them. The same texts are in the folder
<code>docs</code> of the clone. The API is at <a href="/docs">/docs</a>.</p></main></body></html>
`;
  const contentSecurityPolicy = policyOf(['img-src data:']);
  return { bytes: Buffer.from(html), tag: contentTag(html), contentSecurityPolicy };
}
