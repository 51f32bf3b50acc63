import { Script } from 'node:vm';
import test from 'ava';
import { sharePageScript } from '../../src/http/pages/share-page-script.js';
import { makeSharePage } from '../../src/http/pages/share-page.js';
import { startTestService } from '../support/http-service.js';

/* How the page behaves is tested in a browser: test/servers/share-page.test.ts. */

test('the page of a share is one and the same for every token, and not for search engines or frames', async (t) => {
  const { get } = await startTestService(t);
  const page = await get('/s/0123456789ABCDEFGHIJKL');
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(page.headers.get('x-robots-tag'), 'noindex, nofollow');
  t.is(page.headers.get('referrer-policy'), 'no-referrer');
  t.is((await get('/s/another')).text, page.text);
  t.is((await get('/s/')).status, 404);
});

test('the policy of the page lets run and load only what it needs', async (t) => {
  const { get } = await startTestService(t);
  const policy = (await get('/s/x')).headers.get('content-security-policy') ?? '';
  const digests = policy.replaceAll(/sha256-[A-Za-z0-9+/]{43}=/g, 'sha256-…');
  t.deepEqual(digests.split('; '), [
    "default-src 'none'",
    "script-src 'sha256-…'",
    "style-src 'sha256-…'",
    'img-src data: https:',
    'media-src https:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]);
  const inner = makeSharePage({ allowsHttp: true }).contentSecurityPolicy ?? '';
  t.regex(inner, /img-src data: https: http:; media-src https: http:;/);
});

test('the page names nothing from elsewhere, keeps nothing, and writes no markup from what it receives', async (t) => {
  const { get } = await startTestService(t);
  const { text } = await get('/s/x');
  t.notRegex(text, /https?:\/\/|\bsrc="|@import|url\(/);
  t.notRegex(text, /localStorage|sessionStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacent|eval\(/);
  t.notThrows(() => new Script(sharePageScript));
});
