import test, { type ExecutionContext } from 'ava';
import { describeCorsRefusal } from '../../../../src/areas/storages/domain/delivery/test-failure.js';
import { corsRuleFields, corsRuleXml } from '../../../../src/areas/storages/domain/delivery/cors-rule.js';
import { makeSetBucketCors } from '../../../../src/areas/storages/bucket/probing/bucket-cors.js';
import { makeAllowedAddress } from '../../../../src/outgoing/addresses.js';
import {
  type FakeOperation,
  type FakeStorage,
  type Fault,
  givenFakeStorage,
} from '../../../support/fakes/fake-storage.js';
import { bucketUrls } from '../../../support/given/bucket-urls.js';
import { makePatientHttp } from '../../../support/clients/patient-http.js';

const app = 'https://app.example.com';
const http = makePatientHttp({ isAllowed: makeAllowedAddress(['127.0.0.0/8']) });
const now = () => new Date();

function setRule(
  { port }: Pick<FakeStorage, 'port'>,
  origins: readonly string[] = [app],
  signal = AbortSignal.timeout(600_000),
) {
  const keys = { id: 'canary-access-key', secret: 'canary-secret-key' };
  const target = { urls: bucketUrls({ host: `127.0.0.1:${port}` }, keys), origins, ruleFor: corsRuleFields };
  return makeSetBucketCors({ http, now })(target, signal);
}

const foreign =
  '<CORSRule><AllowedOrigin>https://shop.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>';

test('The service adds the rule to those of a bucket, and a repetition changes nothing', async (t) => {
  const storage = await givenFakeStorage(t);
  storage.cors.configuration = `<CORSConfiguration>${foreign}</CORSConfiguration>`;
  t.deepEqual(await setRule(storage), { isChanged: true, refused: [] });
  const once = storage.cors.configuration;
  t.true(once.includes(`${foreign}${corsRuleXml([app])}`), once);
  t.deepEqual(await setRule(storage), { isChanged: false, refused: [] });
  t.is(storage.cors.configuration, once);
  const puts = storage.requests.filter((request) => request.startsWith('PUT'));
  t.deepEqual(puts, ['PUT /media/']);
});

test('The service adds the first rule of a bucket, and another origin later', async (t) => {
  const storage = await givenFakeStorage(t);
  t.deepEqual(await setRule(storage), { isChanged: true, refused: [] });
  const other = 'https://other.example.com';
  t.deepEqual(await setRule(storage, [app, other]), { isChanged: true, refused: [] });
  t.true(storage.cors.configuration?.includes(corsRuleXml([app, other])));
});

test('A change whose time is up is a failure with a code', async (t) => {
  const storage = await givenFakeStorage(t);
  t.deepEqual(await setRule(storage, [app], AbortSignal.abort()), { failure: 'connection_timeout' });
});

test('A bucket that still refuses pages after the change is reported with their origins', async (t) => {
  const refusing = { status: 403, body: '<Error><Code>AccessForbidden</Code></Error>' };
  const storage = await givenFakeStorage(t, { preflight: refusing });
  t.deepEqual(await setRule(storage), { isChanged: true, refused: [app] });
});

const reply = (status: number, code: string): Fault => ({
  status,
  body: `<Error><Code>${code}</Code><Message>canary</Message></Error>`,
});

const refusals: readonly [string, Partial<Record<FakeOperation, Fault>>, string][] = [
  // Amazon S3, "Error responses" (AccessDenied); Alibaba OSS, EC 0003-00000001.
  ['a key without the permission', { cors: reply(403, 'AccessDenied') }, 'cors_denied'],
  // minio/minio cmd/bucket-handlers and OpenStack Swift s3api have no CORS rules of buckets.
  ['a server without such rules', { cors: reply(501, 'NotImplemented') }, 'cors_unsupported'],
  ['a server without the method', { cors: reply(405, 'MethodNotAllowed') }, 'cors_unsupported'],
  ['a bucket that accepts no more rules', { cors: reply(400, 'InvalidRequest') }, 'cors_refused'],
  ['a wrong secret', { cors: reply(403, 'SignatureDoesNotMatch') }, 'signature_mismatch'],
  ['no such bucket', { cors: reply(404, 'NoSuchBucket') }, 'bucket_not_found'],
  ['rules that it cannot read', { cors: { status: 200, body: '<CORSConfiguration>' } }, 'cors_unreadable'],
  ['rules of more than 64 KiB', { cors: { status: 200, body: longRules() } }, 'cors_unreadable'],
  ['a connection that is cut', { cors: 'cut' }, 'connection_failed'],
];

function longRules(): string {
  return `<CORSConfiguration>${foreign.repeat(1_000)}</CORSConfiguration>`;
}

for (const [what, faults, code] of refusals) {
  test(`The service reports ${what} as ${code}, and writes nothing`, async (t) => {
    const storage = await givenFakeStorage(t, faults);
    await fails(t, storage, code);
    t.deepEqual(storage.requests, ['GET /media/']);
  });
}

async function fails(t: ExecutionContext, storage: FakeStorage, code: string): Promise<void> {
  const result = await setRule(storage);
  if (!('failure' in result)) throw new Error('the rule was set');
  t.is<string, string>(result.failure, code);
  t.regex(describeCorsRefusal(result.failure), new RegExp(`^${code}: .{20,}`));
  t.notRegex(describeCorsRefusal(result.failure), /canary/);
}
