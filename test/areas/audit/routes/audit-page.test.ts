import { readFileSync } from 'node:fs';
import test from 'ava';
import { fragmentOf, stateOfFragment } from '../../../../src/areas/audit/page/browser/entry.js';
import { readPageScript } from '../../../../src/http/pages/prepare-page.js';
import { startTestService } from '../../../support/servers/http-service.js';

/* The behaviour of the page is tested in a browser: test/servers/audit-page.test.ts. */

test('The page for auditors is public, holds no data, and excludes search engines and frames', async (t) => {
  const { get } = await startTestService(t);
  const page = await get('/audit');
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(page.headers.get('x-robots-tag'), 'noindex, nofollow');
  t.is(page.headers.get('referrer-policy'), 'no-referrer');
  t.is(page.headers.get('x-content-type-options'), 'nosniff');
  t.is(page.headers.get('cache-control'), 'no-cache');
  t.is((await get('/audit', { authorization: 'Bearer x' })).text, page.text);
  const again = await get('/audit', { 'if-none-match': page.headers.get('etag') ?? '' });
  t.deepEqual([again.status, again.text], [304, '']);
  t.is((await get('/audit/')).status, 404);
});

test('The policy of the page for auditors permits its one script, its one style sheet and calls of its origin', async (t) => {
  const { get } = await startTestService(t);
  const policy = (await get('/audit')).headers.get('content-security-policy') ?? '';
  t.deepEqual(policy.replaceAll(/sha256-[A-Za-z0-9+/]{43}=/g, 'sha256-…').split('; '), [
    "default-src 'none'",
    "script-src 'sha256-…'",
    "style-src 'sha256-…'",
    'img-src data:',
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

test('The page for auditors names no other origin, stores no token but that of the device, and writes no markup from replies', async (t) => {
  const { get } = await startTestService(t);
  const { text } = await get('/audit');
  t.notRegex(text, /https?:\/\/|\bsrc="|@import|url\(| on[a-z]+="| style="/);
  t.notRegex(
    text,
    /sessionStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(/,
  );
  // Two modules know the storage: one is given checkpoints and public keys only, the other the token of the device
  t.is(text.split('localStorage').length - 1, 2);
  const kept = new URL('../../../../src/areas/audit/page/browser/kept.js', import.meta.url);
  t.notRegex(readFileSync(kept, 'utf8'), /token|session|password/);
});

test('The script of the page for auditors loads no other file and cannot end its element', (t) => {
  t.notRegex(
    readPageScript('audit'),
    /^(?:import|export) (?!\{\s*\})|\bimport\(|sourceMappingURL|<\/script|<!--/m,
  );
});

test('The fragment of the page keeps the view and its filters, and leaves out all else', (t) => {
  const state = { view: 'events', fields: { actor: 'user:1', to: '2026-01-02T03:04:05Z' } } as const;
  t.deepEqual(stateOfFragment(fragmentOf(state)), state);
  t.is(fragmentOf(state), '#view=events&actor=user%3A1&to=2026-01-02T03%3A04%3A05Z');
  t.deepEqual(stateOfFragment(''), { view: 'events', fields: {} });
  t.deepEqual(stateOfFragment('#view=x&token=secret&stream= a &type='), {
    view: 'events',
    fields: { stream: 'a' },
  });
  t.deepEqual(stateOfFragment('view=stream&stream=a&as_of=7&actor=b').fields, { stream: 'a', as_of: '7' });
  t.is(stateOfFragment(`#stream=${'x'.repeat(1_000)}`).fields['stream']?.length, 300);
});
