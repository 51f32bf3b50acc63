import test from 'ava';
import { readPageScript } from '../../../../src/http/pages/prepare-page.js';
import {
  type PageLanguage,
  negotiateLanguage,
  readShareTexts,
} from '../../../../src/areas/shares/page/negotiate-language.js';
import { makeSharePage } from '../../../../src/areas/shares/page/share-page.js';
import { startTestService } from '../../../support/servers/http-service.js';

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

test('The page of a share speaks the language that the visitor prefers, and caches keep each language apart', async (t) => {
  const { get } = await startTestService(t);
  const expected = {
    '': ['en', 'Password'],
    'de-AT,de;q=0.9,en;q=0.8': ['de', 'Passwort'],
    'zh-CN,zh;q=0.9,en;q=0.8': ['zh-Hans', '密码'],
    'fr-CA, zh;q=0.5, de;q=0.7': ['de', 'Passwort'],
    fr: ['en', 'Password'],
  } as const;
  const tags = new Set<string | null>();
  for (const [acceptLanguage, [lang, label]] of Object.entries(expected)) {
    const page = await get('/s/x', acceptLanguage === '' ? {} : { 'accept-language': acceptLanguage });
    t.is(page.headers.get('vary'), 'Accept-Language', acceptLanguage);
    t.is(page.headers.get('content-language'), lang, acceptLanguage);
    t.true(page.text.includes(`<html lang="${lang}">`), acceptLanguage);
    t.true(page.text.includes(`<label for="password">${label}</label>`), acceptLanguage);
    tags.add(page.headers.get('etag'));
    // A stored page is revalidated for the same language only
    const again = { 'accept-language': acceptLanguage, 'if-none-match': page.headers.get('etag') ?? '' };
    const unchanged = await get('/s/x', again);
    t.deepEqual([unchanged.status, unchanged.headers.get('vary')], [304, 'Accept-Language'], acceptLanguage);
  }
  t.is(tags.size, 3);
});

test('Weights, order and refusals of Accept-Language select the language', (t) => {
  const available: readonly [PageLanguage, ...PageLanguage[]] = [
    { language: 'en', tag: 'en' },
    { language: 'de', tag: 'de' },
    { language: 'zh', tag: 'zh-Hans' },
  ];
  const cases: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'en'],
    ['', 'en'],
    ['DE', 'de'],
    ['zh-Hant-TW', 'zh'],
    ['en;q=0.3,de;q=0.4', 'de'],
    ['de;q=0.5,zh;q=0.5', 'de'],
    ['zh;q=0,*', 'en'],
    ['en;q=0,*;q=0.1', 'de'],
    ['de;q=0', 'en'],
    ['*', 'en'],
    ['de;q=2,zh', 'zh'],
    [';;;,de_DE,"zh"', 'en'],
    [`${'xx,'.repeat(40)}de`, 'en'],
  ];
  for (const [field, language] of cases) t.is(negotiateLanguage(field, available).language, language, field);
});

test('Every language has each text with the same values', (t) => {
  const valuesOf = (text = ''): readonly string[] => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
  const [english, ...others] = readShareTexts();
  t.deepEqual(
    [english, ...others].map(({ language }) => language),
    ['en', 'de', 'zh'],
  );
  for (const { language, texts } of others) {
    t.deepEqual(Object.keys(texts).sort(), Object.keys(english.texts).sort(), language);
    for (const [key, text] of Object.entries(texts)) {
      t.deepEqual(valuesOf(text), valuesOf(english.texts[key]), `${language}: ${key}`);
    }
  }
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
    "media-src 'self' blob: https:",
    'frame-src https:',
    "connect-src 'self' https:",
    "require-trusted-types-for 'script'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  const inner = makeSharePage({ allowsHttp: true })(undefined).contentSecurityPolicy ?? '';
  t.regex(inner, /img-src data: https: http:; media-src 'self' blob: https: http:; frame-src https: http:;/);
});

test('The page names no other origin, keeps no URL, and writes no markup from replies', async (t) => {
  const { get } = await startTestService(t);
  const { text } = await get('/s/x');
  // The name of the vector format is no address
  const plain = text.replaceAll('http://www.w3.org/2000/svg', '');
  t.notRegex(plain, /https?:\/\/|\bsrc="|@import|url\(|\bon[a-z]+="| style="/);
  t.notRegex(
    plain,
    /localStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(/,
  );
  // One module alone receives the storage of the tab
  t.is(plain.split('sessionStorage').length - 1, 1);
});

test('The script of the page of shares loads no other file and cannot end its element', (t) => {
  t.notRegex(
    readPageScript('share'),
    /^(?:import|export) (?!\{\s*\})|\bimport\(|sourceMappingURL|<\/script|<!--/m,
  );
});

test('The page is served with a slash at the end too', async (t) => {
  const { origin, get } = await startTestService(t);
  // The document has the path without the slash, so the reply is compared and not checked by it.
  const reply = await fetch(`${origin}/s/a-token/`);
  t.deepEqual([reply.status, await reply.text()], [200, (await get('/s/a-token')).text]);
  for (const path of ['/s/a-token/b/', '/s/a-token//', '/s/']) t.is((await get(path)).status, 404, path);
});

test('The script says only texts that the page has', (t) => {
  const [{ texts }] = readShareTexts();
  const script = readPageScript('share');
  const said = [...script.matchAll(/\b(?:say|sayCount)\(["']([\w.-]+)["']/g)].map(([, key = '']) => key);
  t.true(said.length > 20, String(said.length));
  const unknown = said.filter((key) => !(key in texts) && !(`${key}.other` in texts));
  t.deepEqual(unknown, []);
});
