/*
 * Storages of OSS and COS that are bound by the customer's own domain, from binding to fetching media. The server
 * verifies each request with the provider's SDK in SDK_FOLDER (`scripts/make-signing-vectors.mjs` lists the packages).
 */
import test, { type ExecutionContext } from 'ava';
import { makeAllowedAddress } from '../../src/integrations/outgoing/allowed-address.js';
import { type Lookup, makeOutgoingHttp } from '../../src/integrations/outgoing/outgoing-http.js';
import { textOf } from '../support/clients/service-client.js';
import { cdnAuthority } from '../support/examples/cdn-certificates.js';
import { cdnHost, givenFakeCdn } from '../support/fakes/fake-cdn.js';
import { givenFakeStorage } from '../support/fakes/fake-storage.js';
import { givenStorageProject } from '../support/given/storage-project.js';
import { loadSdkVerifiers, type VerifyRequest } from '../support/servers/sdk-verifiers.js';

const onLoopback: Lookup = (hostname, callback) => {
  const isOwn = hostname === cdnHost;
  const error = Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
  callback(isOwn ? null : error, isOwn ? [{ address: '127.0.0.1', family: 4 }] : []);
};
const outgoing = { lookup: onLoopback, ca: cdnAuthority };
const isAllowed = makeAllowedAddress(['127.0.0.0/8']);
/** The browser of a visitor, which knows the domain. */
const browser = makeOutgoingHttp({ ...outgoing, isAllowed, timeMs: 60_000 });

const secret = 'the secret of the bucket';
const providers = {
  oss: {
    bucket: { bucket: 'rivers-media', region: 'cn-hangzhou', id: 'LTAIEXAMPLE', secret },
    credentials: { access_key: 'LTAIEXAMPLE', secret_key: secret },
  },
  cos: {
    bucket: { bucket: 'rivers-1250000000', region: 'ap-beijing', id: 'AKIDEXAMPLE', secret },
    credentials: { secret_id: 'AKIDEXAMPLE', secret_key: secret },
  },
};

/** Starts the bucket at the customer's domain. It accepts only requests that `verify` accepts. */
async function givenBucket(t: ExecutionContext, verify: VerifyRequest) {
  const storage = await givenFakeStorage(t);
  const { port } = await givenFakeCdn(t, storage, {
    behaviour: (request, response, passOn) => {
      if (verify(request)) {
        passOn();
        return;
      }
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    },
  });
  return { storage, endpoint: `https://${cdnHost}:${port}` };
}

const verifiers = loadSdkVerifiers();
if (verifiers === undefined) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip('The suite of own domains runs when SDK_FOLDER contains the SDKs of OSS and COS', () =>
    undefined);
} else {
  for (const provider of ['oss', 'cos'] as const) suite(provider, verifiers[provider]);
}

function suite(
  provider: 'oss' | 'cos',
  makeVerify: NonNullable<ReturnType<typeof loadSdkVerifiers>>[typeof provider],
): void {
  const { bucket, credentials } = providers[provider];
  const bound = { provider, bucket: bucket.bucket, region: bucket.region, base_path: 'videos' };

  test(`A ${provider} storage at the customer's domain is tested, written and read`, async (t) => {
    const { storage, endpoint } = await givenBucket(t, makeVerify(bucket));
    const { path, bind, send, until } = await givenStorageProject(t, { outgoing });
    const at = await bind({ ...bound, endpoint, credentials });
    await send('POST', `${at}/test`);
    t.like(await until(at, 'active', ({ is_default: isDefault }) => isDefault === true), { endpoint });
    t.true(storage.requests.some((request) => request.startsWith('PUT /videos/.stowage-probe-')));

    // When a client uploads a file
    const body = Buffer.from('The Rhine at dawn, all of it.\n');
    const asset = await send('POST', `${path}/assets`, {
      ...{
        name: 'Rhine (dawn)',
        object_key: "2026/a b+ü'(1).mp4",
        media_type: 'video/mp4',
        size: body.length,
      },
    });
    const of = `${path}/assets/${textOf(asset.json(), 'id')}`;
    const upload = (await send('POST', `${of}/upload-url`)).json() as {
      url: string;
      headers: Record<string, string>;
    };
    t.true(upload.url.startsWith(`${endpoint}/videos/2026/a%20b`), upload.url);
    const put = { method: 'PUT', url: upload.url, headers: upload.headers } as const;
    t.is((await browser({ ...put, body: body.subarray(1) })).status, 403, 'another size');
    const { status } = await browser({ ...put, body });
    t.is(status, 200);

    // Then a visitor fetches it, and only by the URL as it was signed
    const media = (await send('POST', `${of}/media`)).json() as { media: { url: string }[] };
    const url = media.media[0]?.url ?? '';
    t.true(url.startsWith(`${endpoint}/videos/2026/a%20b`), url);
    const got = await browser({ method: 'GET', url });
    t.is(got.status, 200);
    t.deepEqual(got.body, body);
    t.is((await browser({ method: 'GET', url: url.replace('.mp4', '.mp5') })).status, 403);
    t.is((await browser({ method: 'GET', url: `${url}&response-content-encoding=x` })).status, 403);
    t.is((await browser({ method: 'DELETE', url })).status, 403);
  });

  test(`The test of a ${provider} storage at the customer's domain finds a wrong secret`, async (t) => {
    const { endpoint } = await givenBucket(t, makeVerify({ ...bucket, secret: 'another secret' }));
    const { bind, send, until } = await givenStorageProject(t, { outgoing });
    const at = await bind({ ...bound, endpoint, credentials });
    await send('POST', `${at}/test`);
    t.regex(textOf(await until(at, 'failed'), 'last_error'), /^signature_mismatch: /);
  });
}
