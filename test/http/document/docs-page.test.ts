import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { get } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { acceptedEncoding } from '../../../src/http/body/raw-body.js';
import { startTestService } from '../../support/servers/http-service.js';

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends a request whose reply stays encoded. */
function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Raw> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode = 0, headers: received } = response;
        resolve({ status: statusCode, headers: received, body: Buffer.concat(chunks) });
      });
      response.on('error', reject);
    }).on('error', reject);
  });
}

/** Returns the page, and the addresses of the modules that it loads at once. */
async function given(t: ExecutionContext) {
  const { origin: url } = await startTestService(t);
  const page = await ask(`${url}/docs`);
  const html = String(page.body);
  const entry = /await import\('([^']+)'\)/.exec(html)?.[1] ?? '';
  const preloads = [...html.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, path = '']) => path);
  return { url, page, html, entry, preloads };
}

test('The policy of the page admits neither evaluated nor inline scripts, and no other origin', async (t) => {
  const { url, page, html } = await given(t);
  t.is(page.headers['content-type'], 'text/html; charset=utf-8');
  const policy = String(page.headers['content-security-policy']);
  const directives = new Map(
    policy.split('; ').map((one) => [one.split(' ')[0] ?? '', one.split(' ').slice(1)]),
  );
  t.deepEqual(directives.get('default-src'), ["'none'"]);
  t.deepEqual(directives.get('connect-src'), ["'self'"]);
  t.is(directives.get('script-src')?.length, 2);
  t.regex(String(directives.get('script-src')), /^'self','sha256-[\w+/]{43}='$/);
  const nonce = /^'nonce-([\w+/]{22}==)'$/.exec(String(directives.get('style-src-elem')))?.[1] ?? '';
  t.true(html.includes(`<style nonce="${nonce}">`));
  t.is(page.headers['cache-control'], 'no-store');
  const next = await ask(`${url}/docs`);
  t.false(String(next.headers['content-security-policy']).includes(nonce));
  t.false(policy.includes('unsafe-eval'));
  t.deepEqual(
    [...directives].filter(([, sources]) => sources.includes("'unsafe-inline'")).map(([name]) => name),
    ['style-src-attr'],
  );
  t.notRegex(html, /https?:/);
});

test('The page names modules that the service serves compressed, and caches keep them', async (t) => {
  const { url, entry, preloads } = await given(t);
  t.true(preloads.length > 5);
  for (const path of [entry, ...preloads]) {
    const plain = await ask(`${url}${path}`);
    t.is(plain.status, 200, path);
    t.is(plain.headers['content-type'], 'text/javascript; charset=utf-8');
    t.is(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    t.is(plain.headers['content-encoding'], undefined);
    const br = await ask(`${url}${path}`, { 'accept-encoding': 'gzip, deflate, br' });
    t.is(br.headers['content-encoding'], 'br');
    t.regex(String(br.headers['vary']), /Accept-Encoding/);
    t.true(brotliDecompressSync(br.body).equals(plain.body), path);
    const gzip = await ask(`${url}${path}`, { 'accept-encoding': 'gzip' });
    t.is(gzip.headers['content-encoding'], 'gzip');
    t.true(gunzipSync(gzip.body).equals(plain.body), path);
    const again = await ask(`${url}${path}`, { 'if-none-match': String(plain.headers['etag']) });
    t.is(again.status, 304);
  }
});

test('A file that the reader does not have is 404', async (t) => {
  const { url, entry } = await given(t);
  const base = entry.slice(0, entry.lastIndexOf('/'));
  const paths = ['/manifest.json', '/chunks/none.js', '/..%2fmanifest.json', '/standalone.esm.js.br'];
  for (const path of paths) t.is((await ask(`${url}${base}${path}`)).status, 404, path);
  t.is((await ask(`${url}/docs/reader/0000000000000000/standalone.esm.js`)).status, 404);
});

test('The OpenAPI document is compressed for clients that accept an encoding', async (t) => {
  const { url } = await given(t);
  const plain = await ask(`${url}/openapi.json`);
  const br = await ask(`${url}/openapi.json`, { 'accept-encoding': 'br' });
  t.true(brotliDecompressSync(br.body).equals(plain.body));
  t.true(br.body.length * 5 < plain.body.length);
});

test('A client gets the first encoding that it accepts', (t) => {
  for (const [field, coding] of [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['GZIP ; q=0.5, BR', 'br'],
    ['br;q=0, gzip;q=1', 'gzip'],
    ['br;q=0.000,gzip;q=0', null],
    ['deflate, zstd', null],
  ] as const)
    t.is(acceptedEncoding(field), coding, field);
});
