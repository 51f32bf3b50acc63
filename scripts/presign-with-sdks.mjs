// Presigns GETs with a provider's own SDK for some milliseconds, and prints the number per second. The benchmark runs it:
//   node scripts/presign-with-sdks.mjs <folder whose node_modules has the SDKs> <s3|oss|cos> <milliseconds>
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';

const [folder, provider, milliseconds] = process.argv.slice(2);
const require = createRequire(join(resolve(folder), 'package.json'));

const bucket = 'media-1250000000';
const expires = 1200;
const type = 'video/mp4';
const disposition = `inline; filename="K_ln.mp4"; filename*=UTF-8''K%C3%B6ln.mp4`;
const query = { 'response-content-type': type, 'response-content-disposition': disposition };

const makers = {
  s3: () => {
    const { GetObjectCommand, S3Client } = require('@aws-sdk/client-s3');
    const { getSignedUrl } = require('@aws-sdk/s3-request-presigner');
    const client = new S3Client({
      region: 'eu-west-1',
      credentials: { accessKeyId: 'an-access-key', secretAccessKey: 'a secret' },
    });
    return (key) =>
      getSignedUrl(
        client,
        new GetObjectCommand({
          Bucket: bucket,
          Key: key,
          ResponseContentType: type,
          ResponseContentDisposition: disposition,
        }),
        { expiresIn: expires },
      );
  },
  oss: () => {
    const OSS = require('ali-oss');
    const client = new OSS({
      accessKeyId: 'an-access-key',
      accessKeySecret: 'a secret',
      bucket,
      region: 'oss-cn-hangzhou',
      authorizationV4: true,
      secure: true,
    });
    return (key) => client.signatureUrlV4('GET', expires, { queries: query }, key);
  },
  cos: () => {
    const COS = require('cos-nodejs-sdk-v5');
    // The SDK writes a warning for each URL when the keys do not look like real ones.
    const client = new COS({ SecretId: `AKID${'a'.repeat(32)}`, SecretKey: 'b'.repeat(32) });
    return (key) =>
      new Promise((done, fail) => {
        const request = {
          Bucket: bucket,
          Region: 'ap-beijing',
          Key: key,
          Sign: true,
          Expires: expires,
          Query: query,
        };
        client.getObjectUrl(request, (error, data) => (error ? fail(error) : done(data.Url)));
      });
  },
};

const presign = makers[provider]();
let number = 0;
const signFor = async (ms) => {
  const began = performance.now();
  const from = number;
  while (performance.now() - began < ms) {
    number += 1;
    const url = await presign(`videos/2026/${number}.mp4`);
    if (!url.startsWith('https://')) throw new Error(`not a URL: ${url}`);
  }
  return ((number - from) * 1_000) / (performance.now() - began);
};
await signFor(Number(milliseconds) / 2);
console.log(await signFor(Number(milliseconds)));
