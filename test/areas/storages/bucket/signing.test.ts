import { readFileSync } from 'node:fs';
import test from 'ava';
import { bucketAddress } from '../../../../src/areas/storages/domain/bucket/bucket-address.js';
import { storageProvider } from '../../../../src/areas/storages/domain/bucket/bucket.js';
import { makeCosSigner } from '../../../../src/areas/storages/bucket/signing/cos-signer.js';
import { makeOssSigner } from '../../../../src/areas/storages/bucket/signing/oss-signer.js';
import { makeS3Signer } from '../../../../src/areas/storages/bucket/signing/s3-signer.js';
import type { StorageSigner } from '../../../../src/areas/storages/bucket/signing/signer.js';
import { headerCases, pinnedUploads, signedAt, type SigningCase, signingCases } from './signing-cases.js';

const signers = { s3: makeS3Signer, oss: makeOssSigner, cos: makeCosSigner };

function signerOf(one: Omit<SigningCase, 'method' | 'expiresInSeconds'>): StorageSigner {
  return signers[one.provider](bucketAddress(one), one.keys);
}

/** Returns the query with the parameters that the AWS SDK adds to every URL. */
function withSdkExtras({ provider, method, query }: SigningCase): SigningCase['query'] {
  if (provider !== 's3') return query;
  const id = method === 'GET' ? 'GetObject' : 'PutObject';
  return { ...query, 'x-id': id, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' };
}

function sign(one: SigningCase, query: SigningCase['query']): URL {
  const { method, key, headers, expiresInSeconds } = one;
  return new URL(signerOf(one).presign({ method, key, query, headers, signedAt, expiresInSeconds }));
}

/** Reads a file that `scripts/make-signing-vectors.mjs` has written. */
function vectorsOf(name: string): unknown {
  const file = new URL(`../../../../../test/areas/storages/bucket/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

for (const provider of storageProvider.options) {
  const cases = signingCases(provider);

  test(`The ${provider} signer gives ${cases.length} URLs the signatures of the official SDK`, (t) => {
    const expected = vectorsOf(`signatures-${provider}`);
    const signatures = cases.map((one) => signatureOf(sign(one, withSdkExtras(one))));
    t.true(cases.length >= 300);
    t.deepEqual(signatures, expected);
  });

  const uploads = pinnedUploads(provider);
  test(`The ${provider} signer gives ${uploads.length} uploads of a pinned length the signatures of the official SDK`, (t) => {
    const signatures = uploads.map((one) => signatureOf(sign(one, withSdkExtras(one))));
    t.deepEqual(signatures, vectorsOf(`uploads-${provider}`));
  });

  const requests = headerCases(provider);
  test(`The ${provider} signer gives ${requests.length} requests the Authorization of the official SDK`, (t) => {
    const authorizations = requests.map(
      (one) => signerOf(one).sign({ ...one, signedAt }).headers['authorization'],
    );
    t.deepEqual(authorizations, vectorsOf(`authorizations-${provider}`));
  });

  test(`A URL of ${provider} contains the inputs that it was made for, with every key`, (t) => {
    for (const one of cases) {
      const url = sign(one, one.query);
      const { protocol, host, pathPrefix } = bucketAddress(one);
      t.is(url.protocol, protocol);
      t.is(url.host, host);
      t.is(decodeURIComponent(url.pathname), pathPrefix + one.key);
      for (const [name, value] of Object.entries(one.query)) t.is(url.searchParams.get(name), value);
      t.is(url.hash, '');
    }
  });

  test(`Every part of a request to ${provider} changes its signature`, (t) => {
    const [one] = cases;
    if (one === undefined) return t.fail();
    const { method, key, query, headers, expiresInSeconds } = one;
    const request = { method, key, query, headers, signedAt, expiresInSeconds };
    const original = signatureOf(new URL(signerOf(one).presign(request)));
    const changed = [
      { ...request, method: 'PUT' as const },
      { ...request, key: `${key}x` },
      { ...request, query: { 'response-content-type': 'text/html' } },
      { ...request, headers: { 'content-type': 'text/html' } },
      { ...request, signedAt: new Date(signedAt.getTime() + 1_000) },
      { ...request, expiresInSeconds: expiresInSeconds + 1 },
    ].map((other) => signatureOf(new URL(signerOf(one).presign(other))));
    const elsewhere = signatureOf(sign({ ...one, bucket: 'other-1250000000' }, query));
    const otherSecret = signatureOf(sign({ ...one, keys: { ...one.keys, secret: 'x' } }, query));
    const all = [original, ...changed, elsewhere, otherSecret];
    t.is(new Set(all).size, all.length);
  });

  test(`A URL of ${provider} lives from one second to seven days`, (t) => {
    const [one] = cases;
    if (one === undefined) return t.fail();
    for (const expiresInSeconds of [0, -1, 1.5, 604_801, Number.NaN]) {
      t.throws(() => signerOf(one).presign({ method: 'GET', key: 'a', signedAt, expiresInSeconds }), {
        instanceOf: RangeError,
      });
    }
  });
}

test('A key pair has one signing key a day and another one the next day', (t) => {
  const [one] = signingCases('s3');
  if (one === undefined) return t.fail();
  const signer = signerOf(one);
  const at = (time: string) =>
    signer.presign({ method: 'GET', key: 'a', signedAt: new Date(time), expiresInSeconds: 60 });
  const today = at('2026-11-21T23:59:59.000Z');
  at('2026-11-22T00:00:00.000Z');
  t.is(at('2026-11-21T23:59:59.000Z'), today);
});

function signatureOf(url: URL): string | null {
  for (const [name, value] of url.searchParams) if (/signature$/i.test(name)) return value;
  return null;
}
