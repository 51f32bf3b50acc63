/*
 * The story of a storage for each way to bind one. The S3 server is the one that S3_ENDPOINT names. OSS and COS are
 * servers on this machine that verify each request with the provider's SDK in SDK_FOLDER.
 */
import test, { type ExecutionContext } from 'ava';
import { makeAllowedAddress } from '../../src/outgoing/addresses.js';
import { makeOutgoingHttp } from '../../src/outgoing/outgoing-http.js';
import type { Lookup } from '../../src/outgoing/shared-lookup.js';
import { textOf } from '../support/clients/service-client.js';
import { cdnAuthority, providerAuthority } from '../support/examples/cdn-certificates.js';
import { cdnHost, type FakeCdn, givenFakeCdn } from '../support/fakes/fake-cdn.js';
import { tellImportStory, tellStorageStory } from '../support/given/storage-story.js';
import { givenStorageProject } from '../support/given/storage-project.js';
import { tellObjectsStory, tellPartsStory } from '../support/given/objects-story.js';
import { knowsParts, makeBucket, s3Server, type S3Server } from '../support/servers/s3-server.js';
import {
  loadSdkVerifiers,
  type VerifiedBucket,
  type VerifyRequest,
} from '../support/servers/sdk-verifiers.js';
import { type FakeStorage, givenFakeStorage } from '../support/fakes/fake-storage.js';
import { suiteWith } from '../support/suite.js';

/** Sends the names of the stories to this machine, and no other name. */
const onLoopback: Lookup = (hostname, callback) => {
  const isKnown =
    hostname === cdnHost ||
    hostname.endsWith('.s3.local') ||
    Object.values(providerHosts).some((host) => hostname.endsWith(`.${host}`));
  const error = Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
  callback(isKnown ? null : error, isKnown ? [{ address: '127.0.0.1', family: 4 }] : []);
};
const outgoing = { lookup: onLoopback, ca: `${cdnAuthority}${providerAuthority}` };
const browser = makeOutgoingHttp({
  ...{ ...outgoing, isAllowed: makeAllowedAddress(['127.0.0.0/8']), timeMs: 60_000 },
});

/** One after the other, because the servers of the stories keep 200 MB in memory. */
const inTurn = test.serial;

suiteWith(test, s3Server, 'The stories on the S3 server run when S3_ENDPOINT names one', tellOnS3);

function tellOnS3(server: S3Server): void {
  const { endpoint, region, accessKey, secretKey } = server;
  const credentials = { access_key: accessKey, secret_key: secretKey };
  const { host, port } = new URL(endpoint);
  /** The ways to bind a bucket of the server, and the beginning of its URLs. */
  const ways: Readonly<Record<string, (bucket: string) => readonly [binding: object, begin: string]>> = {
    'the path': (bucket) => [{ endpoint }, `http://${host}/${bucket}/`],
    'the virtual host': (bucket) => [
      { endpoint: `http://${bucket}.s3.local:${port}` },
      `http://${bucket}.s3.local:${port}/`,
    ],
    'the path, with the virtual host for browsers': (bucket) => [
      { endpoint, public_endpoint: `http://${bucket}.s3.local:${port}` },
      `http://${bucket}.s3.local:${port}/`,
    ],
  };
  for (const [way, bind] of Object.entries(ways)) {
    inTurn(`The story of an S3 storage at ${way}`, async (t) => {
      const { name, put } = await makeBucket(t, server);
      const project = await givenStorageProject(t, { outgoing, allowedCidrs: server.allowedCidrs });
      const [place, begin] = bind(name);
      const hasParts = await knowsParts(server);
      const warnings = [...(hasParts ? [] : ['no_multipart']), 'cors_missing'];
      const binding = { bucket: name, region, ...place, base_path: 'videos', credentials };
      await tellStorageStory(t, { project, binding, begin, browser, hasCorsRules: false, warnings });
      await tellObjectsStory(t, { project, browser });
      if (way !== 'the path') return;
      if (hasParts) await tellPartsStory(t, { project, browser, outgoing });
      else t.log('not run: 200 MB in parts, which this server does not support');
      // Swift takes minutes for as many keys as the others.
      const count = process.env['DEEP_BUDGET'] === undefined ? 500 : 5_000;
      await tellImportStory(t, { project, count, put: (key, body) => put(`videos/${key}`, body) });
    });
  }
}

function suite(
  provider: 'oss' | 'cos',
  makeVerify: NonNullable<ReturnType<typeof loadSdkVerifiers>>[typeof provider],
): void {
  const own = verifiedBuckets[provider];
  const { bucket, region, id, secret } = own;
  const credentials =
    provider === 'cos' ? { secret_id: id, secret_key: secret } : { access_key: id, secret_key: secret };
  const bound = { provider, bucket, region, base_path: 'videos', credentials };
  const { [provider]: providerHost } = providerHosts;
  const places = [
    ["at the customer's own domain", 'good', cdnHost, ''],
    ["at the provider's host, with the bucket before it", 'providers', providerHost, `${bucket}.`],
  ] as const;
  for (const [where, certificate, host, before] of places) {
    inTurn(`The story of a storage of ${provider} ${where}`, async (t) => {
      const { port } = await givenVerifyingBucket(t, makeVerify(own), certificate);
      const project = await givenStorageProject(t, { outgoing });
      await tellStorageStory(t, {
        ...{ project, browser, hasCorsRules: true },
        binding: { ...bound, endpoint: `https://${host}:${port}` },
        begin: `https://${before}${host}:${port}/`,
      });
      await tellObjectsStory(t, { project, browser });
      if (certificate === 'good') await tellPartsStory(t, { project, browser, outgoing });
    });
  }

  test(`The test of a storage of ${provider} finds a wrong secret`, async (t) => {
    const { port } = await givenVerifyingBucket(t, makeVerify({ ...own, secret: 'another secret' }), 'good');
    const { bind, send, until } = await givenStorageProject(t, { outgoing });
    const at = await bind({ ...bound, endpoint: `https://${cdnHost}:${port}` });
    await send('POST', `${at}/test`);
    t.regex(textOf(await until(at, 'failed'), 'last_error'), /^signature_mismatch: /);
  });
}

const secret = 'the secret of the bucket';

/** The buckets of the stories. */
const verifiedBuckets = {
  oss: { bucket: 'rivers-media', region: 'cn-hangzhou', id: 'LTAIEXAMPLE', secret },
  cos: { bucket: 'rivers-1250000000', region: 'ap-beijing', id: 'AKIDEXAMPLE', secret },
} as const satisfies Record<string, VerifiedBucket>;

/** The providers' hosts that the certificate `providers` is for, with any bucket before them. */
const providerHosts = {
  oss: 'oss-cn-hangzhou.aliyuncs.com',
  cos: 'cos.ap-beijing.myqcloud.com',
} as const;

/**
 * Starts a bucket over TLS that serves only requests which the verifier accepts. Preflights carry no signature
 * (Fetch Standard), so it answers them by its rules.
 */
async function givenVerifyingBucket(
  t: ExecutionContext,
  verify: VerifyRequest,
  certificate: 'good' | 'providers',
): Promise<{ readonly storage: FakeStorage; readonly port: FakeCdn['port'] }> {
  const storage = await givenFakeStorage(t);
  const { port } = await givenFakeCdn(t, storage, {
    certificate,
    behaviour: (request, response, passOn) => {
      if (request.method === 'OPTIONS' || verify(request)) {
        passOn();
        return;
      }
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    },
  });
  return { storage, port };
}

const what = 'The stories of OSS and COS run when SDK_FOLDER contains their SDKs';
suiteWith(test, loadSdkVerifiers(), what, (verifiers) => {
  for (const provider of ['oss', 'cos'] as const) suite(provider, verifiers[provider]);
});
