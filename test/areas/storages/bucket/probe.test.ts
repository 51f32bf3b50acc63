import test, { type ExecutionContext } from 'ava';
import {
  testFailureCode,
  type ProbeFailureCode,
  type TestWarning,
} from '../../../../src/areas/storages/domain/delivery/test-failure.js';
import { makeProbeBucket } from '../../../../src/areas/storages/bucket/probing/probe.js';
import { makeAllowedAddress } from '../../../../src/outgoing/addresses.js';
import {
  makeOutgoingHttp,
  type OutgoingHttp,
  type OutgoingReply,
} from '../../../../src/outgoing/outgoing-http.js';
import type { Lookup } from '../../../../src/outgoing/shared-lookup.js';
import { givenFakeCdn } from '../../../support/fakes/fake-cdn.js';
import {
  type FakeOperation,
  type FakeStorage,
  type Fault,
  givenFakeStorage,
} from '../../../support/fakes/fake-storage.js';
import { bucketUrls } from '../../../support/given/bucket-urls.js';

const secret = 'canary-secret-key';
const now = () => new Date();

interface Place {
  readonly storage: FakeStorage;
  readonly host?: string;
  readonly protocol?: 'http:' | 'https:';
  readonly lookup?: Lookup;
  readonly clock?: () => Date;
  /** The time limit of each request; the production value of 5 s by default. */
  readonly timeMs?: number;
  /** The reply of a CDN, which then receives no request. */
  readonly cdn?: () => OutgoingReply;
}

const cdnDomain = 'cdn.example.org';

async function result(place: Place) {
  const { storage, protocol = 'http:', clock = now, cdn, timeMs = 600_000, lookup } = place;
  const isAllowed = makeAllowedAddress(['127.0.0.0/8']);
  const outgoing = makeOutgoingHttp({ isAllowed, timeMs, ...(lookup === undefined ? {} : { lookup }) });
  const http: OutgoingHttp = (request, signal) =>
    cdn !== undefined && new URL(request.url).host === cdnDomain
      ? Promise.resolve().then(cdn)
      : outgoing(request, signal);
  const urls = bucketUrls(
    {
      ...{ protocol, host: place.host ?? `127.0.0.1:${storage.port}` },
      cdnDomain: cdn === undefined ? '' : cdnDomain,
    },
    { id: 'canary-access-key', secret },
  );
  const run = makeProbeBucket({ http, now: clock, makeId: () => 'an-id' });
  const target = {
    ...{ urls, basePath: 'videos', hasPublicEndpoint: false, origins: [] },
    ...({ provider: 's3', cdn: cdn === undefined ? null : 'rewrite' } as const),
  };
  return run(target, AbortSignal.timeout(600_000));
}

async function probe(place: Place) {
  return (await result(place)).failure;
}

const error = (status: number, code: string, more = ''): Fault => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>canary ${secret}</Message>${more}</Error>`,
});

test('A bucket that permits list, write, read and delete passes, and stays empty', async (t) => {
  const storage = await givenFakeStorage(t);
  t.is(await probe({ storage }), null);
  const key = '/media/videos/.stowage-probe-an-id';
  const ofParts = ['POST', 'PUT', 'GET', 'POST'];
  t.deepEqual(storage.requests, [
    'GET /media/',
    ...['PUT', 'GET', ...ofParts, 'HEAD', 'DELETE'].map((method) => `${method} ${key}`),
  ]);
  t.is(storage.objects.size, 0);
});

const unnamed = { status: 200, headers: { 'transfer-encoding': 'chunked' } };
const limits: readonly [string, Partial<Record<FakeOperation, Fault>>, TestWarning['code']][] = [
  ['refuses HEAD', { head: error(403, 'AccessDenied') }, 'head_refused'],
  ['cuts HEAD off', { head: 'cut' }, 'head_refused'],
  ['answers HEAD without a length', { head: unnamed }, 'head_refused'],
  ['has no uploads in parts', { parts: error(501, 'NotImplemented') }, 'no_multipart'],
  ['answers to parts with a page', { parts: { status: 200, body: '<html/>' } }, 'no_multipart'],
  [
    'ignores the disposition of a signed URL',
    { get: { status: 206, body: 'Stowage' } },
    'content_disposition_ignored',
  ],
];

for (const [what, given, code] of limits) {
  test(`A bucket that ${what} passes with the warning ${code}`, async (t) => {
    const storage = await givenFakeStorage(t, given);
    t.deepEqual(await result({ storage }), {
      failure: null,
      warnings: [{ code, origins: [], cause: null }],
    });
    t.is(storage.objects.size, 0);
  });
}

test('A bucket that names no size of an object fails the test', async (t) => {
  for (const [range, code] of [
    [unnamed, 'range_ignored'],
    [error(403, 'AccessDenied'), 'read_denied'],
    [error(404, 'NoSuchKey'), 'content_changed'],
    [{ status: 206, headers: { 'content-range': 'bytes 0-0/57' }, body: 'S' }, 'content_changed'],
  ] as const) {
    const storage = await givenFakeStorage(t, { head: error(403, 'AccessDenied'), range });
    t.is((await probe({ storage }))?.code, code);
  }
});

test('A key that may not list passes', async (t) => {
  for (const ofOss of ['', '<EC>0003-00000001</EC>']) {
    const storage = await givenFakeStorage(t, { list: error(403, 'AccessDenied', ofOss) });
    t.is(await probe({ storage }), null);
  }
});

const page = (status: number, body: string): Fault => ({ status, body: `<html>${body}</html>` });
const faults: readonly [string, FakeOperation, Fault, ProbeFailureCode][] = [
  ['an unknown access key', 'list', error(403, 'InvalidAccessKeyId'), 'access_key_unknown'],
  ['a disabled access key', 'list', error(403, 'InactiveAccessKeyId'), 'access_key_disabled'],
  ['a wrong secret', 'list', error(403, 'SignatureDoesNotMatch'), 'signature_mismatch'],
  [
    'a retired way of signing',
    'list',
    error(403, 'InvalidArgument', '<EC>0002-00000080</EC>'),
    'signature_version_refused',
  ],
  [
    'a wrong region',
    'list',
    error(400, 'AuthorizationHeaderMalformed', '<Region>ap-south-1</Region>'),
    'region_wrong',
  ],
  ['no such bucket', 'list', error(404, 'NoSuchBucket'), 'bucket_not_found'],
  ['a bucket elsewhere', 'list', error(301, 'PermanentRedirect'), 'bucket_in_other_place'],
  [
    'a redirection to somewhere',
    'list',
    { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    'redirected',
  ],
  ['path style refused', 'list', error(403, 'PathStyleDomainForbidden'), 'path_style_refused'],
  ['a clock that is off, by its own words', 'list', error(403, 'RequestTimeTooSkewed'), 'clock_skewed'],
  ['a suspended account', 'list', error(403, 'UserDisable'), 'account_in_arrears'],
  ['a full storage', 'put', error(507, 'XMinioStorageFull'), 'quota_exceeded'],
  ['writing denied', 'put', error(403, 'AccessDenied'), 'write_denied'],
  ['reading denied', 'get', error(403, 'AccessDenied'), 'read_denied'],
  ['deleting denied', 'delete', error(403, 'AccessDenied'), 'delete_denied'],
  ['slowing down', 'put', error(503, 'SlowDown'), 'throttled'],
  ['an internal error', 'put', error(500, 'InternalError'), 'storage_unavailable'],
  ['an error page of a proxy', 'list', page(502, 'bad gateway'), 'storage_unavailable'],
  ['a web page', 'list', page(200, 'welcome'), 'not_a_storage'],
  ['a web server without the page', 'list', page(404, 'canary'), 'not_a_storage'],
  [
    'a part that is answered with all',
    'get',
    { status: 200, body: 'Stowage tests this storage. This object may be deleted.\n' },
    'range_ignored',
  ],
  ['an object that is not there yet', 'get', error(404, 'NoSuchKey'), 'content_changed'],
  ['other content than was written', 'get', { status: 206, body: 'garbled' }, 'content_changed'],
  ['an unknown refusal', 'put', error(400, 'WhoKnows'), 'request_refused'],
  ['a connection that is cut', 'put', 'cut', 'connection_failed'],
  ['a storage that stays silent', 'put', 'silent', 'connection_timeout'],
];

for (const [what, operation, fault, code] of faults) {
  test(`The probe reports ${what}`, async (t) => {
    const storage = await givenFakeStorage(t, { [operation]: fault });
    const failure = await probe({ storage, ...(fault === 'silent' ? { timeMs: 300 } : {}) });
    t.is(failure?.code, code);
    t.is(failure?.hint, code === 'region_wrong' ? 'ap-south-1' : null);
    t.notRegex(JSON.stringify(failure), /canary/);
    t.true(testFailureCode.safeParse(failure?.code).success);
  });
}

test('The probe reports failures before the first reply', async (t) => {
  const storage = await givenFakeStorage(t);
  const host = 'storage.example.org';
  for (const [error, address, code] of [
    ['ENOTFOUND', null, 'host_not_found'],
    ['EAI_AGAIN', null, 'host_not_resolved'],
    [null, '10.0.0.1', 'address_refused'],
  ] as const) {
    const lookup: Lookup = (_hostname, callback) => {
      if (address === null) callback(Object.assign(new Error(error), { code: error }), []);
      else callback(null, [{ address, family: 4 }]);
    };
    await reports(t, { storage, host, lookup }, code);
  }
  await reports(t, { storage, host: '127.0.0.1:1' }, 'connection_refused');
  await reports(t, { storage, protocol: 'https:' }, 'tls_failed');
});

for (const minutes of [-60, -16, -15, -12, -8, -6, 6, 8, 12, 15, 16, 60]) {
  test(`A clock that is ${minutes} minutes off has its own failure code`, async (t) => {
    const storage = await givenFakeStorage(t);
    await reports(t, { storage, clock: () => new Date(Date.now() + minutes * 60_000) }, 'clock_skewed');
    t.deepEqual(storage.requests, ['GET /media/']);
  });
}

test('A clock that is 4 minutes off passes in either direction', async (t) => {
  const storage = await givenFakeStorage(t);
  for (const minutes of [-4, 4]) {
    t.is(await probe({ storage, clock: () => new Date(Date.now() + minutes * 60_000) }), null);
  }
});

test('The probe reports http to a port that expects https', async (t) => {
  const storage = await givenFakeStorage(t);
  const { port } = await givenFakeCdn(t, storage);
  await reports(t, { storage, host: `127.0.0.1:${port}` }, 'https_expected');
});

test('An object that may exist after a broken connection is deleted', async (t) => {
  const storage = await givenFakeStorage(t, { put: 'cut' });
  t.is((await probe({ storage }))?.code, 'connection_failed');
  t.is(storage.requests.at(-1), 'DELETE /media/videos/.stowage-probe-an-id');
});

test('The object of a test that throws is deleted, and the error leaves the probe', async (t) => {
  const storage = await givenFakeStorage(t);
  const cdn = (): OutgoingReply => {
    throw new TypeError('Invalid URL');
  };
  await t.throwsAsync(probe({ storage, cdn }), { instanceOf: TypeError });
  t.is(storage.objects.size, 0);
});

test('The object and the parts of a test whose time is up are deleted', async (t) => {
  for (const query of ['response-content-type', 'partNumber']) {
    const storage = await givenFakeStorage(t);
    const timeUp = new AbortController();
    const outgoing = makeOutgoingHttp({ isAllowed: makeAllowedAddress(['127.0.0.0/8']) });
    const http: OutgoingHttp = (request, signal) => {
      if (new URL(request.url).searchParams.has(query)) timeUp.abort();
      return outgoing(request, signal);
    };
    const urls = bucketUrls(
      { protocol: 'http:', host: `127.0.0.1:${storage.port}` },
      { id: 'a-key', secret },
    );
    const run = makeProbeBucket({ http, now, makeId: () => 'an-id' });
    const target = { urls, basePath: 'videos', hasPublicEndpoint: false, origins: [], cdn: null } as const;
    await run({ ...target, provider: 's3' }, timeUp.signal).catch(() => undefined);
    t.is(storage.objects.size, 0, query);
    const ends = storage.requests.filter((request) => request.startsWith('DELETE')).length;
    t.is(ends, query === 'partNumber' ? 2 : 1, query);
  }
});

test('The object of a failed test is deleted', async (t) => {
  const storage = await givenFakeStorage(t, { get: error(403, 'AccessDenied') });
  t.is((await probe({ storage }))?.code, 'read_denied');
  t.is(storage.objects.size, 0);
});

async function reports(t: ExecutionContext, place: Place, code: ProbeFailureCode): Promise<void> {
  t.is((await probe(place))?.code, code);
}
