import { Script } from 'node:vm';
import test from 'ava';
import { sharePageScript } from '../../src/http/pages/share-page-script.js';
import { makeSharePage } from '../../src/http/pages/share-page.js';
import { startTestService } from '../support/servers/http-service.js';

/* The behaviour of the page is tested in a browser: test/servers/share-page.test.ts. */

test('The page of a share is the same for every token, and excludes search engines and frames', async (t) => {
  const { get } = await startTestService(t);
  const page = await get('/s/0123456789ABCDEFGHIJKL');
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(page.headers.get('x-robots-tag'), 'noindex, nofollow');
  t.is(page.headers.get('referrer-policy'), 'no-referrer');
  t.is((await get('/s/another')).text, page.text);
  t.is((await get('/s/')).status, 404);
});

test('The policy of the page permits only the scripts and sources that it needs', async (t) => {
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

test('The page names no other origin, stores nothing, and writes no markup from replies', async (t) => {
  const { get } = await startTestService(t);
  const { text } = await get('/s/x');
  t.notRegex(text, /https?:\/\/|\bsrc="|@import|url\(/);
  t.notRegex(text, /localStorage|sessionStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacent|eval\(/);
  t.notThrows(() => new Script(sharePageScript));
});
