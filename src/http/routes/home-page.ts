import { createHash } from 'node:crypto';

const style = `
body { font: 17px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #1c2430; background: #fff }
h1 { margin-bottom: 0 } a { color: #0b57d0 } li { margin: .4rem 0 }
@media (prefers-color-scheme: dark) { body { color: #e6eaf0; background: #14181f } a { color: #8ab4f8 } }
`;

/** The page runs no script and fetches nothing. The policy names its one style sheet by digest. */
export const homePageContentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns the page at `/`: what this service is, and where its documents and its health are. */
export function renderHomePage(version: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Stowage</title><style>${style}</style></head>
<body><h1>Stowage</h1><p>Version ${version}. This service keeps media in the object storage of its projects, shares them behind
passwords, and records every change as an event that can be replayed and proven.</p>
<ul>
<li><a href="/docs">The API for people</a>, and as <a href="/openapi.json">OpenAPI 3.1</a></li>
<li><a href="/api/v1">What this service offers</a>, as JSON</li>
<li><a href="/audit">The page for auditors</a></li>
<li>Health: <a href="/healthz">is the process alive?</a> <a href="/readyz">may it be sent requests?</a></li>
</ul></body></html>
`;
}
