import test from 'ava';
import { startTestHttp } from '../support/clients/http-app.js';

test('The page at / says what the service is and links to its documents, without a script', async (t) => {
  const { ask } = await startTestHttp(t, { routes: [] });
  const { status, text, headers } = await ask('/?utm_source=mail');
  t.is(status, 200);
  t.regex(headers.get('content-type') ?? '', /^text\/html/);
  t.regex(headers.get('content-security-policy') ?? '', /default-src 'none'/);
  t.notRegex(text, /<script|https?:\/\//);
  for (const [, path = ''] of text.matchAll(/href="([^"]+)"/g)) {
    if (path !== '/audit') t.is((await ask(path)).status, 200, path);
  }
  const again = await ask('/', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  t.is(again.status, 304);
});

test('GET /api/v1 tells version, documents, password rules and what the settings make possible', async (t) => {
  for (const available of [
    { mail: true, passkeys: false },
    { mail: false, passkeys: true },
  ]) {
    const { ask } = await startTestHttp(t, {
      routes: [],
      available,
      passwordRules: 'at least 10 characters',
    });
    const { status, json } = await ask('/api/v1');
    t.is(status, 200);
    t.deepEqual(json, {
      service: 'stowage',
      version: '0.0.0',
      documentation: 'http://localhost/docs',
      openapi: 'http://localhost/openapi.json',
      password_rules: 'at least 10 characters',
      available,
    });
    t.is((await ask('/api/v1?x=1')).status, 400);
  }
});
