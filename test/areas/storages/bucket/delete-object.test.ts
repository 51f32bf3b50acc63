import test from 'ava';
import { makeDeleteObject } from '../../../../src/areas/storages/bucket/objects/call-bucket.js';
import { makeS3Signer } from '../../../../src/areas/storages/bucket/signing/s3-signer.js';

const now = () => new Date('2026-11-23T03:00:00Z');
const bucket = makeS3Signer(
  {
    protocol: 'https:',
    host: 's3.example.com',
    pathPrefix: '/rushes/',
    bucket: 'rushes',
    region: 'eu-west-1',
  },
  { id: 'AKIDEXAMPLE', secret: 'not-a-real-secret' },
);

/** Deletes an object of a bucket that answers so. */
function deletedBy(status: number, body: string) {
  const http = () => Promise.resolve({ status, headers: {}, body: Buffer.from(body) });
  return makeDeleteObject({ http, now })({ urls: { bucket }, key: 'a.mp4' });
}

test('An object is gone where the bucket says so', async (t) => {
  const error = (code: string) => `<Error><Code>${code}</Code></Error>`;
  t.is(await deletedBy(204, ''), 'deleted');
  t.is(await deletedBy(404, ''), 'deleted');
  t.is(await deletedBy(404, error('NoSuchKey')), 'deleted');
  t.like(await deletedBy(404, error('NoSuchBucket')), { cause: 'bucket_not_found' });
});

test("A 404 that is not the bucket's leaves an object undeleted", async (t) => {
  for (const page of ['404 page not found\n', '<html><h1>404 Not Found</h1></html>'])
    t.like(await deletedBy(404, page), { cause: 'not_a_storage', providerCode: null });
});
