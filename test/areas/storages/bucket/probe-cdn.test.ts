import test, { type ExecutionContext } from 'ava';
import {
  describeFailure,
  testFailureCode,
} from '../../../../src/areas/storages/domain/storage/test-failure.js';
import { makeStorageUrls } from '../../../../src/areas/storages/bucket/signing/media-urls.js';
import type { ProbeFailureCode } from '../../../../src/areas/storages/bucket/probing/probe-failure-code.js';
import { makeProbeBucket } from '../../../../src/areas/storages/bucket/probing/probe.js';
import { makeAllowedAddress } from '../../../../src/outgoing/addresses.js';
import { makeOutgoingHttp } from '../../../../src/outgoing/outgoing-http.js';
import type { Lookup } from '../../../../src/outgoing/shared-lookup.js';
import { cdnAuthority } from '../../../support/examples/cdn-certificates.js';
import { cdnHost, type FakeCdn, givenFakeCdn } from '../../../support/fakes/fake-cdn.js';
import { type FakeStorage, givenFakeStorage } from '../../../support/fakes/fake-storage.js';

/*
 * The test of a storage through `cdn_domain`, over real TLS. The client trusts one more authority than usual and
 * resolves `cdn.example.test` to this machine. Everything else is production code.
 */

const onLoopback: Lookup = (_hostname, callback) => {
  callback(null, [{ address: '127.0.0.1', family: 4 }]);
};

interface Place {
  readonly storage: FakeStorage;
  readonly cdn: Pick<FakeCdn, 'port'>;
  readonly mode?: 'rewrite' | 'public' | 'origin';
  readonly lookup?: Lookup;
  readonly allowed?: readonly string[];
}

const plain = { provider: 's3' as const, hasPublicEndpoint: false, origins: [] };

async function probe({
  storage,
  cdn,
  mode = 'rewrite',
  lookup = onLoopback,
  allowed = ['127.0.0.0/8'],
}: Place) {
  const http = makeOutgoingHttp({
    isAllowed: makeAllowedAddress(allowed),
    lookup,
    ca: cdnAuthority,
  });
  const place = { protocol: 'http:', host: `127.0.0.1:${storage.port}`, pathPrefix: '/media/' } as const;
  const urls = makeStorageUrls(
    {
      ...{ provider: 's3', ...place, client: place },
      ...{ bucket: 'media', region: 'eu-west-1', cdnDomain: `${cdnHost}:${cdn.port}`, mode },
    },
    { id: 'an access key', secret: 'a secret key' },
  );
  const run = makeProbeBucket({ http, now: () => new Date(), makeId: () => 'an-id' });
  const target = { urls, basePath: 'videos', cdn: mode, ...plain };
  return (await run(target, AbortSignal.timeout(600_000))).failure;
}

const object = 'videos/.stowage-probe-an-id';

test('A good CDN passes with the URLs of each mode', async (t) => {
  const storage = await givenFakeStorage(t);
  // Given a CDN that uses the bucket's host and receives the whole URL that was signed for it
  const cdn = await givenFakeCdn(t, storage);
  t.is(await probe({ storage, cdn, mode: 'rewrite' }), null);
  t.regex(cdn.requests[0] ?? '', new RegExp(`^/media/${object}\\?.*X-Amz-Signature=`));
  // and one that reads the bucket itself, or is another name of it
  const own = await givenFakeCdn(t, storage, { originPath: '/media' });
  t.is(await probe({ storage, cdn: own, mode: 'public' }), null);
  t.is(await probe({ storage, cdn: own, mode: 'origin' }), null);
  t.is(own.requests[0], `/${object}`);
  t.regex(own.requests[1] ?? '', new RegExp(`^/${object}\\?.*X-Amz-Signature=`));
  t.is(storage.objects.size, 0);
});

const badCertificates = [
  ['for another name', 'otherName', 'cdn_certificate_name_wrong'],
  ['that has expired', 'expired', 'cdn_certificate_expired'],
  ['that is not valid yet', 'notYetValid', 'cdn_certificate_expired'],
  ['of an unknown authority', 'ofAnotherAuthority', 'cdn_certificate_untrusted'],
] as const;

for (const [what, certificate, code] of badCertificates) {
  test(`A CDN with a certificate ${what} has its own failure code and receives no request`, async (t) => {
    const storage = await givenFakeStorage(t);
    const cdn = await givenFakeCdn(t, storage, { certificate });
    for (const mode of ['rewrite', 'public'] as const) await reports(t, { storage, cdn, mode }, code);
    t.deepEqual(cdn.requests, []);
  });
}

test('The same certificates at the endpoint have separate failure codes', async (t) => {
  const storage = await givenFakeStorage(t);
  for (const [, certificate, code] of badCertificates) {
    const { port } = await givenFakeCdn(t, storage, { certificate });
    const failure = await probeEndpoint(`${cdnHost}:${port}`);
    t.is(`cdn_${failure?.code ?? ''}`, code);
  }
  const { port } = await givenFakeCdn(t, storage);
  t.is(await probeEndpoint(`${cdnHost}:${port}`), null);
});

const answers: readonly (readonly [string, Parameters<typeof givenFakeCdn>[2], ProbeFailureCode])[] = [
  [
    'answers another body',
    { behaviour: (_request, response) => response.writeHead(200).end('<html>Welcome!</html>') },
    'cdn_content_changed',
  ],
  [
    'answers another part',
    { behaviour: (_request, response) => response.writeHead(206).end('towage ') },
    'cdn_content_changed',
  ],
  [
    'ignores Range',
    {
      behaviour: (request, _response, passOn) => {
        delete request.headers.range;
        passOn();
      },
    },
    'cdn_range_ignored',
  ],
  [
    'redirects',
    {
      behaviour: ({ url }, response) =>
        response.writeHead(301, { location: `https://www.example.test${url ?? ''}` }).end(),
    },
    'cdn_redirected',
  ],
  ['leads elsewhere', { originPath: '/elsewhere' }, 'cdn_not_found'],
  [
    'cannot reach its origin',
    { behaviour: (_request, response) => response.writeHead(504).end() },
    'cdn_failed',
  ],
  ['breaks off', { behaviour: ({ socket }) => socket.destroy() }, 'cdn_unreachable'],
  ['stays silent', { behaviour: () => undefined }, 'cdn_unreachable'],
];

for (const [what, options, code] of answers) {
  test(`The probe reports the failure code of a CDN that ${what}`, async (t) => {
    const storage = await givenFakeStorage(t);
    const cdn = await givenFakeCdn(t, storage, options);
    await reports(t, { storage, cdn }, code);
  });
}

test("A refusal of a CDN is reported by the CDN's mode", async (t) => {
  const storage = await givenFakeStorage(t);
  const cdn = await givenFakeCdn(t, storage, {
    behaviour: (_request, response) =>
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'),
  });
  await reports(t, { storage, cdn, mode: 'rewrite' }, 'cdn_signature_refused');
  await reports(t, { storage, cdn, mode: 'origin' }, 'cdn_signature_refused');
  await reports(t, { storage, cdn, mode: 'public' }, 'cdn_not_public');
});

test('A CDN that cannot be reached is reported by the cause', async (t) => {
  const storage = await givenFakeStorage(t);
  const cdn = await givenFakeCdn(t, storage);
  const nowhere: Lookup = (_hostname, callback) => {
    callback(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), []);
  };
  await reports(t, { storage, cdn, lookup: nowhere }, 'cdn_host_not_found');
  const inside: Lookup = (_hostname, callback) => {
    callback(null, [{ address: '10.0.0.1', family: 4 }]);
  };
  await reports(t, { storage, cdn, lookup: inside }, 'cdn_address_refused');
  await reports(t, { storage, cdn: storage }, 'cdn_tls_failed');
  await reports(t, { storage, cdn: { port: 1 } }, 'cdn_unreachable');
});

test('Every failure through a CDN has separate advice that names the CDN', (t) => {
  const codes = testFailureCode.options.filter((code) => code.startsWith('cdn_'));
  const advice = codes.map((code) => describeFailure({ code, hint: null }).replace(`${code}: `, ''));
  t.is(new Set(advice).size, codes.length);
  for (const text of advice) t.regex(text, /cdn_domain/);
});

/** Checks the failure code of a place. The test object must be deleted after every failure of the CDN. */
async function reports(t: ExecutionContext, place: Place, code: ProbeFailureCode): Promise<void> {
  const failure = await probe(place);
  t.deepEqual(failure, { code, hint: null });
  t.true(testFailureCode.safeParse(failure?.code).success);
  t.is(place.storage.objects.size, 0);
}

async function probeEndpoint(host: string) {
  const place = { protocol: 'https:', host, pathPrefix: '/media/' } as const;
  const isAllowed = makeAllowedAddress(['127.0.0.0/8']);
  const http = makeOutgoingHttp({ isAllowed, lookup: onLoopback, ca: cdnAuthority });
  const urls = makeStorageUrls(
    {
      ...{ provider: 's3', ...place, client: place },
      ...{ bucket: 'media', region: 'eu-west-1', cdnDomain: '', mode: 'rewrite' },
    },
    { id: 'an access key', secret: 'a secret key' },
  );
  const run = makeProbeBucket({ http, now: () => new Date(), makeId: () => 'an-id' });
  const target = { urls, basePath: 'videos', cdn: null, ...plain };
  return (await run(target, AbortSignal.timeout(600_000))).failure;
}
