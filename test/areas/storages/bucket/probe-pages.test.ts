import test from 'ava';
import { corsRuleXml } from '../../../../src/areas/storages/domain/delivery/cors-rule.js';
import { makeProbeBucket } from '../../../../src/areas/storages/bucket/probing/probe.js';
import { makeAllowedAddress } from '../../../../src/outgoing/addresses.js';
import type { Lookup } from '../../../../src/outgoing/shared-lookup.js';
import { cdnAuthority } from '../../../support/examples/cdn-certificates.js';
import { cdnHost, type FakeCdn, givenFakeCdn } from '../../../support/fakes/fake-cdn.js';
import { type FakeStorage, givenFakeStorage } from '../../../support/fakes/fake-storage.js';
import { pluck } from '../../../support/given/pluck.js';
import { bucketUrls } from '../../../support/given/bucket-urls.js';
import { makePatientHttp } from '../../../support/clients/patient-http.js';

const [app, api] = ['https://app.example.com', 'https://api.example.com'];

interface Place {
  readonly storage: FakeStorage;
  /** The endpoint of browsers: its port on this machine. */
  readonly publicPort?: number;
  readonly cdn?: FakeCdn;
  readonly origins?: readonly string[];
}

const onLoopback: Lookup = (hostname, callback) => {
  const isKnown = hostname === cdnHost;
  const error = Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
  callback(isKnown ? null : error, isKnown ? [{ address: '127.0.0.1', family: 4 }] : []);
};

/** Tests a storage whose browsers use `publicPort` in place of the endpoint. */
function probe({ storage, publicPort, cdn, origins = [] }: Place) {
  const isAllowed = makeAllowedAddress(['127.0.0.0/8']);
  const http = makePatientHttp({ isAllowed, lookup: onLoopback, ca: cdnAuthority });
  const client = { protocol: 'http:', pathPrefix: '/media/' } as const;
  const urls = bucketUrls({
    host: `127.0.0.1:${storage.port}`,
    client: { ...client, host: `127.0.0.1:${publicPort ?? storage.port}` },
    cdnDomain: cdn === undefined ? '' : `${cdnHost}:${cdn.port}`,
  });
  const run = makeProbeBucket({ http, now: () => new Date(), makeId: () => 'an-id' });
  const target = {
    ...{ urls, basePath: 'videos', hasPublicEndpoint: publicPort !== undefined, origins },
    ...({ provider: 's3', cdn: cdn === undefined ? null : 'rewrite' } as const),
  };
  return run(target, AbortSignal.timeout(600_000));
}

const noWarning = { failure: null, warnings: [] };
const key = '/media/videos/.stowage-probe-an-id';

test('A bucket that lets the pages upload and fetch passes without a warning', async (t) => {
  const storage = await givenFakeStorage(t);
  storage.cors.configuration = `<CORSConfiguration>${corsRuleXml([app, api])}</CORSConfiguration>`;
  t.deepEqual(await probe({ storage, origins: [app, api] }), noWarning);
  t.is(storage.requests.filter((request) => request === `OPTIONS ${key}`).length, 4);
});

test('A bucket without the rule passes, and the warning names the origins that it refuses', async (t) => {
  const storage = await givenFakeStorage(t);
  const missing = { code: 'cors_missing', cause: null } as const;
  const warned = (...origins: string[]) => ({ failure: null, warnings: [{ ...missing, origins }] });
  t.deepEqual(await probe({ storage, origins: [app, api] }), warned(app, api));
  storage.cors.configuration = `<CORSConfiguration>${corsRuleXml([api])}</CORSConfiguration>`;
  t.deepEqual(await probe({ storage, origins: [app, api] }), warned(app));
});

test('A rule for fetching alone is a warning, because pages upload too', async (t) => {
  const storage = await givenFakeStorage(t);
  const rule = corsRuleXml([app]).replace('<AllowedMethod>PUT</AllowedMethod>', '');
  storage.cors.configuration = `<CORSConfiguration>${rule}</CORSConfiguration>`;
  const { warnings } = await probe({ storage, origins: [app] });
  t.deepEqual(pluck(warnings, 'code'), ['cors_missing']);
});

test('A storage that answers no preflight passes, and the warning says why it was not checked', async (t) => {
  const storage = await givenFakeStorage(t, { preflight: 'cut' });
  t.deepEqual(await probe({ storage, origins: [app] }), {
    failure: null,
    warnings: [{ code: 'cors_unchecked', origins: [app], cause: 'connection_failed' }],
  });
});

test('A CDN that keeps the rules of the bucket from pages has a separate warning', async (t) => {
  const storage = await givenFakeStorage(t);
  storage.cors.configuration = `<CORSConfiguration>${corsRuleXml([app])}</CORSConfiguration>`;
  const cdn = await givenFakeCdn(t, storage, {
    behaviour: (request, response, passOn) => {
      if (request.method === 'OPTIONS') response.writeHead(405).end();
      else passOn();
    },
  });
  t.deepEqual((await probe({ storage, cdn, origins: [app] })).warnings, [
    { code: 'cdn_cors_missing', origins: [app], cause: null },
  ]);
});

test('A failed test sends no preflight', async (t) => {
  const storage = await givenFakeStorage(t, {
    put: { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' },
  });
  t.deepEqual(await probe({ storage, origins: [app] }), {
    failure: { code: 'write_denied', hint: null },
    warnings: [],
  });
  t.false(storage.requests.some((request) => request.startsWith('OPTIONS')));
});

test('The test uploads and reads through the public endpoint, and sends the preflights there', async (t) => {
  const storage = await givenFakeStorage(t);
  // The object of the endpoint is there too, as one bucket has two names.
  const front = await givenFakeStorage(t);
  front.cors.configuration = `<CORSConfiguration>${corsRuleXml([app])}</CORSConfiguration>`;
  t.deepEqual(await probe({ storage, publicPort: front.port, origins: [app] }), noWarning);
  t.deepEqual(front.requests, [`PUT ${key}`, `GET ${key}`, `OPTIONS ${key}`, `OPTIONS ${key}`]);
  t.false(storage.requests.some((request) => request.startsWith('OPTIONS')));
});

test('A public endpoint that the service cannot reach is a warning, and the rules are checked at the endpoint', async (t) => {
  const storage = await givenFakeStorage(t);
  t.deepEqual(await probe({ storage, publicPort: 1, origins: [app] }), {
    failure: null,
    warnings: [
      { code: 'public_endpoint_unchecked', origins: [], cause: 'connection_refused' },
      { code: 'cors_missing', origins: [app], cause: null },
    ],
  });
  t.is(storage.objects.size, 0);
});

const denied = { status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' };
const fronts = [
  ['refuses signed uploads', { put: denied }, 'public_endpoint_wrong'],
  ['refuses signed reads', { get: denied }, 'public_endpoint_wrong'],
  ['leads to another place', { get: { status: 206, body: 'another' } }, 'public_endpoint_wrong'],
  ['limits uploads', { put: { status: 413, body: '<html>' } }, 'upload_limited'],
  ['has an error', { put: { status: 502, body: '<html>' } }, 'storage_unavailable'],
] as const;

for (const [what, faults, code] of fronts) {
  test(`A public endpoint that ${what} fails the test with ${code}`, async (t) => {
    const storage = await givenFakeStorage(t);
    const front = await givenFakeStorage(t, faults);
    t.deepEqual((await probe({ storage, publicPort: front.port, origins: [app] })).failure, {
      code,
      hint: null,
    });
    t.is(storage.objects.size, 0);
  });
}
