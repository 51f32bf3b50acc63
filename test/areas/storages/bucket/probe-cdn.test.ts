import test, { type ExecutionContext } from 'ava';
import {
  describeFailure,
  testFailureCode,
  type ProbeFailureCode,
} from '../../../../src/areas/storages/domain/delivery/test-failure.js';
import type { StorageUrls } from '../../../../src/areas/storages/bucket/signing/media-urls.js';
import { makeProbeBucket } from '../../../../src/areas/storages/bucket/probing/probe.js';
import { makeAllowedAddress } from '../../../../src/outgoing/addresses.js';
import { makeOutgoingHttp, type OutgoingHttp } from '../../../../src/outgoing/outgoing-http.js';
import type { Lookup } from '../../../../src/outgoing/shared-lookup.js';
import { cdnAuthority } from '../../../support/examples/cdn-certificates.js';
import { cdnHost, type FakeCdn, givenFakeCdn, type CdnBehaviour } from '../../../support/fakes/fake-cdn.js';
import { type FakeStorage, givenFakeStorage } from '../../../support/fakes/fake-storage.js';
import { bucketUrls } from '../../../support/given/bucket-urls.js';
import { makePatientHttp, patientMs } from '../../../support/clients/patient-http.js';

/*
 * The test of a storage through `cdn_domain`, over real TLS. The client trusts one more authority than usual and
 * resolves `cdn.example.test` to this machine. Everything else is production code.
 */

const onLoopback: Lookup = (_hostname, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);

interface Place {
  readonly storage: FakeStorage;
  readonly cdn: Pick<FakeCdn, 'port'>;
  readonly mode?: 'rewrite' | 'public' | 'origin';
  readonly lookup?: Lookup;
  readonly allowed?: readonly string[];
  readonly timeMs?: number;
}

async function probe({
  storage,
  cdn,
  mode = 'rewrite',
  lookup = onLoopback,
  allowed = ['127.0.0.0/8'],
  timeMs = patientMs,
}: Place) {
  const http = makeOutgoingHttp({ isAllowed: makeAllowedAddress(allowed), lookup, timeMs, ca: cdnAuthority });
  const urls = bucketUrls({
    ...{ host: `127.0.0.1:${storage.port}`, cdnDomain: `${cdnHost}:${cdn.port}`, mode },
  });
  return failureOf(http, { urls, cdn: mode });
}

async function failureOf(
  http: OutgoingHttp,
  place: { urls: StorageUrls; cdn: NonNullable<Place['mode']> | null },
) {
  const run = makeProbeBucket({ http, now: () => new Date(), makeId: () => 'an-id' });
  const plain = { provider: 's3' as const, basePath: 'videos', hasPublicEndpoint: false, origins: [] };
  return (await run({ ...plain, ...place }, AbortSignal.timeout(600_000))).failure;
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

const elsewhere = { location: 'https://www.example.test/' };
const answering =
  (status: number, body = '', headers = {}): CdnBehaviour =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);
const ignoresRange: CdnBehaviour = (request, _response, passOn) => {
  delete request.headers.range;
  passOn();
};
const answers: readonly (readonly [string, Parameters<typeof givenFakeCdn>[2], ProbeFailureCode])[] = [
  ['answers another body', { behaviour: answering(200, '<html>Welcome!</html>') }, 'cdn_content_changed'],
  ['answers another part', { behaviour: answering(206, 'towage ') }, 'cdn_content_changed'],
  ['ignores Range', { behaviour: ignoresRange }, 'cdn_range_ignored'],
  ['redirects', { behaviour: answering(301, '', elsewhere) }, 'cdn_redirected'],
  ['leads elsewhere', { originPath: '/elsewhere' }, 'cdn_not_found'],
  ['cannot reach its origin', { behaviour: answering(504) }, 'cdn_failed'],
  ['breaks off', { behaviour: ({ socket }) => socket.destroy() }, 'cdn_unreachable'],
  ['stays silent', { behaviour: () => undefined }, 'cdn_unreachable'],
];

for (const [what, options, code] of answers) {
  test(`The probe reports the failure code of a CDN that ${what}`, async (t) => {
    const storage = await givenFakeStorage(t);
    const cdn = await givenFakeCdn(t, storage, options);
    // Only the end of this time shows that a CDN is silent.
    const timeMs = what === 'stays silent' ? 5_000 : patientMs;
    await reports(t, { storage, cdn, timeMs }, code);
  });
}

test("A refusal of a CDN is reported by the CDN's mode", async (t) => {
  const storage = await givenFakeStorage(t);
  const behaviour = answering(403, '<Error><Code>AccessDenied</Code>canary</Error>');
  const cdn = await givenFakeCdn(t, storage, { behaviour });
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
  const inside: Lookup = (_hostname, callback) => callback(null, [{ address: '10.0.0.1', family: 4 }]);
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
  const isAllowed = makeAllowedAddress(['127.0.0.0/8']);
  const http = makePatientHttp({ isAllowed, lookup: onLoopback, ca: cdnAuthority });
  return failureOf(http, { urls: bucketUrls({ protocol: 'https:', host }), cdn: null });
}
