import { createHash } from 'node:crypto';

const style = `
:root { color-scheme: light dark; --text: #1b2330; --faint: #526070; --back: #eef1f6; --card: #fff; --hair: #d9dfe8; --accent: #1f4fbf }
@media (prefers-color-scheme: dark) { :root { --text: #e8ecf2; --faint: #a9b5c4; --back: #12161c; --card: #1b212a; --hair: #313a47; --accent: #8fb3ff } }
* { box-sizing: border-box }
body { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem; color: var(--text); background: var(--back); font: 1rem/1.5 system-ui, sans-serif }
h1 { margin: 0 } h2 { margin: 0 0 .5rem; font-size: 1.125rem } p { margin: .25rem 0 } a { color: var(--accent) } .faint { color: var(--faint) }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; margin-top: 1.5rem }
section { padding: 1.25rem; background: var(--card); border: 1px solid var(--hair); border-radius: 1rem }
code { font: .875em ui-monospace, monospace; overflow-wrap: anywhere }
`;

/** The page runs no script and fetches nothing. The policy names its one style sheet by digest. */
export const homePageContentSecurityPolicy = [
  "default-src 'none'",
  'img-src data:',
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns the page at `/`: what this service is, and where its documents and its health are. */
export function renderHomePage(version: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>Stowage</title><style>${style}</style></head>
<body><header><h1>Stowage</h1>
<p>The backend of products that sell and share media: accounts, projects that bring their own bucket, shares behind a password, and
payments. Each change is an event that can be replayed and proven.</p>
<p class="faint">Version ${version}</p></header>
<main>
<section><h2>Call it</h2><p><a href="/docs">The API for people</a>, with a form that sends each call.</p>
<p>The same as <a href="/openapi.json">OpenAPI 3.1</a>; <a href="/api/v1">what this service offers</a> as JSON.</p></section>
<section><h2>Read</h2><p><a href="/guides/">The guides</a>: start, concepts, operation, reference. <a href="/guides/zh/" lang="zh-Hans">中文</a></p></section>
<section><h2>Try it</h2><p><a href="/guides/example">The example</a>: an app that shares a file in five clicks. In the clone:
<code>npm run example</code></p></section>
<section><h2>Check it</h2><p><a href="/audit">The page for auditors</a> proves in the browser what happened.</p></section>
<section><h2>Health</h2><p><a href="/healthz">Is the process alive?</a></p><p><a href="/readyz">May it be sent requests?</a></p></section>
</main></body></html>
`;
}
