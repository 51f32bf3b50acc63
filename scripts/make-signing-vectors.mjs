// Makes test/integrations/object-storage/signatures-<provider>.json with the providers' own SDKs, whose many dependencies
// the project does not need otherwise:
//   npm run build:all
//   npm install --no-save --ignore-scripts @aws-sdk/client-s3@3.1169.0 @aws-sdk/s3-request-presigner@3.1162.0 \
//     ali-oss@6.23.0 cos-nodejs-sdk-v5@3.0.0
//   node scripts/make-signing-vectors.mjs
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { URL } from 'node:url';
import { signedAt, signingCases } from '../dist/test/integrations/object-storage/signing-cases.js';
import { bucketAddress } from '../dist/src/domain/storage/bucket-address.js';

// Also from a folder of their own: SDK_FOLDER=… holds their node_modules.
const require = createRequire(new URL('package.json', `file://${process.env.SDK_FOLDER ?? process.cwd()}/`));
const { GetObjectCommand, PutObjectCommand, S3Client } = require('@aws-sdk/client-s3');
const { getSignedUrl } = require('@aws-sdk/s3-request-presigner');
const OSS = require('ali-oss');
const COS = require('cos-nodejs-sdk-v5');

// ali-oss and the COS SDK ask the clock themselves.
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [signedAt.getTime()] : parts));
  }
  static now() {
    return signedAt.getTime();
  }
};

async function s3({ endpoint, bucket, region, keys, method, key, query, headers, expiresInSeconds }) {
  const client = new S3Client({
    region,
    credentials: { accessKeyId: keys.id, secretAccessKey: keys.secret, sessionToken: keys.sessionToken },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === '' ? {} : { endpoint, forcePathStyle: /minio|192\.0/.test(endpoint) }),
  });
  const input = {
    Bucket: bucket,
    Key: key,
    ResponseContentType: query['response-content-type'],
    ResponseContentDisposition: query['response-content-disposition'],
    ContentType: headers['content-type'],
  };
  const command = method === 'GET' ? new GetObjectCommand(input) : new PutObjectCommand(input);
  const url = await getSignedUrl(client, command, {
    expiresIn: expiresInSeconds,
    signingDate: signedAt,
    signableHeaders: new Set(['host', ...Object.keys(headers)]),
  });
  return new URL(url).searchParams.get('X-Amz-Signature');
}

async function oss({ endpoint, bucket, region, keys, method, key, query, headers, expiresInSeconds }) {
  const client = new OSS({
    accessKeyId: keys.id,
    accessKeySecret: keys.secret,
    ...(keys.sessionToken === undefined ? {} : { stsToken: keys.sessionToken }),
    bucket,
    region: `oss-${region}`,
    ...(endpoint === '' ? {} : { endpoint }),
    authorizationV4: true,
    secure: true,
  });
  const { host } = bucketAddress({ provider: 'oss', endpoint, bucket, region });
  const url = await client.signatureUrlV4(
    method,
    expiresInSeconds,
    { headers: { ...headers, host }, queries: { ...query } },
    key,
    ['host'],
  );
  return new URL(url).searchParams.get('x-oss-signature');
}

async function cos({ endpoint, bucket, region, keys, method, key, query, headers, expiresInSeconds }) {
  const { host } = bucketAddress({ provider: 'cos', endpoint, bucket, region });
  const start = Math.floor(signedAt.getTime() / 1000) - 60;
  const authorization = COS.getAuthorization({
    SecretId: keys.id,
    SecretKey: keys.secret,
    Method: method.toLowerCase(),
    Pathname: `/${key}`,
    Query: {
      ...query,
      ...(keys.sessionToken === undefined ? {} : { 'x-cos-security-token': keys.sessionToken }),
    },
    Headers: { ...headers, host },
    KeyTime: `${start};${start + 60 + expiresInSeconds}`,
  });
  return /q-signature=([0-9a-f]+)/.exec(authorization)[1];
}

for (const [provider, sign] of Object.entries({ s3, oss, cos })) {
  const signatures = [];
  for (const one of signingCases(provider)) signatures.push(await sign(one));
  const file = new URL(`../test/integrations/object-storage/signatures-${provider}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(signatures, null, 2)}\n`);
  console.log(provider, signatures.length);
}
