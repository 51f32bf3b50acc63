import type { Server } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { makeS3Signer } from '../../src/areas/storages/bucket/signing/s3-signer.js';
import { packageFile } from '../../src/package-files.js';
import { givenDirectory } from '../support/directories.js';
import { listen } from '../support/servers/loopback.js';

interface BucketSettings {
  readonly directory: string;
  readonly bucket: string;
  readonly region: string;
  readonly keys: { readonly id: string; readonly secret: string };
  readonly origin: string;
}

/** No await stands at the top, because the tests of other files may begin meanwhile, and then none may be declared. */
const program = async () =>
  (await import(packageFile('examples/s3-server.mjs').href)) as {
    readonly openBucket: (settings: BucketSettings) => Promise<Server>;
  };
const keys = { id: 'EXAMPLE', secret: 'a secret' };
const origin = 'http://127.0.0.1:8090';

async function given(t: ExecutionContext) {
  const { openBucket } = await program();
  const settings = { directory: givenDirectory(t), bucket: 'example', region: 'us-east-1', keys, origin };
  const open = async (): Promise<string> => {
    return `127.0.0.1:${await listen(t, await openBucket(settings))}`;
  };
  const signer = (host: string, secret = keys.secret) =>
    makeS3Signer(
      { protocol: 'http:', host, pathPrefix: '/example/', region: 'us-east-1', bucket: 'example' },
      { ...keys, secret },
    );
  return { open, signer };
}

test('The bucket of the example serves what was stored, whole, in parts and after a restart', async (t) => {
  const { open, signer } = await given(t);
  const key = "Rhine (dawn)/+ä'!*.txt";
  const first = await open();
  const put = signer(first).sign({
    method: 'PUT',
    key,
    headers: { 'content-type': 'text/plain' },
    signedAt: new Date(),
  });
  t.is((await fetch(put.url, { method: 'PUT', headers: put.headers, body: 'water' })).status, 200);
  // When another server opens its folder
  const signedAt = new Date();
  const again = signer(await open());
  const link = again.presign({
    ...{ method: 'GET', key, signedAt, expiresInSeconds: 60 },
    query: { 'response-content-type': 'text/x-river' },
  });
  const whole = await fetch(link);
  t.deepEqual(
    [whole.status, whole.headers.get('content-type'), await whole.text()],
    [200, 'text/x-river', 'water'],
  );
  const part = await fetch(link, { headers: { range: 'bytes=1-2', origin } });
  t.deepEqual(
    [part.status, part.headers.get('content-range'), await part.text()],
    [206, 'bytes 1-2/5', 'at'],
  );
  t.is(part.headers.get('access-control-allow-origin'), origin);
  const list = again.sign({ method: 'GET', key: '', query: { prefix: 'Rhine' }, signedAt });
  t.regex(
    await (await fetch(list.url, { headers: list.headers })).text(),
    /<Key>Rhine \(dawn\)\/\+ä'!\*\.txt<\/Key>/,
  );
  const remove = again.sign({ method: 'DELETE', key, signedAt });
  t.is((await fetch(remove.url, { method: 'DELETE', headers: remove.headers })).status, 204);
  t.is((await fetch(link)).status, 404);
});

test('The bucket of the example refuses what is not signed for it', async (t) => {
  const { open, signer } = await given(t);
  const host = await open();
  const presigned = (secret?: string, ageMs = 0): string =>
    signer(host, secret).presign({
      ...{ method: 'GET', key: 'a', expiresInSeconds: 60 },
      signedAt: new Date(Date.now() - ageMs),
    });
  for (const [what, url] of [
    ['nothing', `http://${host}/example/a`],
    ['another secret', presigned('another')],
    ['another key', presigned().replace('/a?', '/b?')],
    ['a longer life', presigned().replace('Expires=60', 'Expires=600')],
    ['an expired URL', presigned(undefined, 61_000)],
    ['a URL of the future', presigned(undefined, -1_000_000)],
  ] as const)
    t.is((await fetch(url)).status, 403, what);
  t.is((await fetch(presigned())).status, 404);
  t.is(
    (await fetch(presigned(), { method: 'OPTIONS', headers: { origin: 'http://evil.example' } })).status,
    403,
  );
});
