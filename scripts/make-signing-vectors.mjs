// Makes signatures-, uploads- and authorizations-<provider>.json in test/areas/storages/bucket with the providers'
// own SDKs, whose many dependencies the project does not need otherwise:
//   npm run build:all
//   npm install --no-save --ignore-scripts @aws-sdk/client-s3@3.1169.0 @aws-sdk/s3-request-presigner@3.1162.0 \
//     ali-oss@6.23.0 cos-nodejs-sdk-v5@3.0.0
//   node scripts/make-signing-vectors.mjs
import { createRequire } from 'node:module';
import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { URL } from 'node:url';
import {
  headerCases,
  pinnedUploads,
  signedAt,
  signingCases,
} from '../dist/test/areas/storages/bucket/signing-cases.js';
import { bucketAddress } from '../dist/src/areas/storages/domain/bucket/bucket-address.js';

// The SDKs may also be in a separate folder: SDK_FOLDER=… contains their node_modules.
const require = createRequire(new URL('package.json', `file://${process.env.SDK_FOLDER ?? process.cwd()}/`));
const { GetObjectCommand, PutObjectCommand, S3Client } = require('@aws-sdk/client-s3');
const { getSignedUrl } = require('@aws-sdk/s3-request-presigner');
const OSS = require('ali-oss');
const { SignatureV4 } = require('@smithy/signature-v4');
const COS = require('cos-nodejs-sdk-v5');
const ossSigning = require('ali-oss/lib/common/signUtils.js');

// ali-oss and the COS SDK read the clock themselves.
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [signedAt.getTime()] : parts));
  }
  static now() {
    return signedAt.getTime();
  }
};

/** Customers' domains, which are bound to a bucket (CNAME). */
const isOwnDomain = (endpoint) => endpoint.endsWith('.example.com');

/** The AWS SDK adds the bucket before the host. */
const withoutBucket = (endpoint, bucket) => endpoint.replace(`//${bucket}.`, '//');

/** Compares the SDK's idea of the address with ours. */
function checkAddress(url, address, key) {
  const { origin, pathname } = new URL(url);
  const expected = `${address.protocol}//${address.host}`;
  if (origin !== new URL(expected).origin) throw new Error(`the SDK asks ${origin}, not ${expected}`);
  if (
    decodeURIComponent(pathname) !==
    decodeURIComponent(new URL(`${expected}${address.pathPrefix}`).pathname) + key
  )
    throw new Error(`the SDK asks for ${pathname}`);
}

async function s3({ endpoint, bucket, region, keys, method, key, query, headers, expiresInSeconds }) {
  const client = new S3Client({
    region,
    credentials: { accessKeyId: keys.id, secretAccessKey: keys.secret },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === ''
      ? {}
      : { endpoint: withoutBucket(endpoint, bucket), forcePathStyle: /minio|192\.0/.test(endpoint) }),
  });
  const input = {
    Bucket: bucket,
    Key: key,
    ResponseContentType: query['response-content-type'],
    ResponseContentDisposition: query['response-content-disposition'],
    ContentType: headers['content-type'],
    ContentLength: 'content-length' in headers ? Number(headers['content-length']) : undefined,
  };
  const command = method === 'GET' ? new GetObjectCommand(input) : new PutObjectCommand(input);
  const url = await getSignedUrl(client, command, {
    expiresIn: expiresInSeconds,
    signingDate: signedAt,
    signableHeaders: new Set(['host', ...Object.keys(headers)]),
  });
  checkAddress(url, bucketAddress({ provider: 's3', endpoint, bucket, region }), key);
  return new URL(url).searchParams.get('X-Amz-Signature');
}

async function oss({ endpoint, bucket, region, keys, method, key, query, headers, expiresInSeconds }) {
  const client = new OSS({
    accessKeyId: keys.id,
    accessKeySecret: keys.secret,
    bucket,
    region: `oss-${region}`,
    ...(endpoint === '' ? {} : { endpoint, cname: isOwnDomain(endpoint) }),
    authorizationV4: true,
    secure: true,
  });
  const address = bucketAddress({ provider: 'oss', endpoint, bucket, region });
  const { host } = address;
  const url = await client.signatureUrlV4(
    method,
    expiresInSeconds,
    { headers: { ...headers, host }, queries: { ...query } },
    key,
    ['host', ...('content-length' in headers ? ['content-length'] : [])],
  );
  checkAddress(url, address, key);
  return new URL(url).searchParams.get('x-oss-signature');
}

async function cos({ endpoint, bucket, region, keys, method, key, query, headers, expiresInSeconds }) {
  const address = bucketAddress({ provider: 'cos', endpoint, bucket, region });
  const { host } = address;
  const client = new COS({
    ...{ SecretId: keys.id, SecretKey: keys.secret, Protocol: 'https:' },
    ...(endpoint === ''
      ? {}
      : { Domain: isOwnDomain(endpoint) ? host : `{Bucket}.${new URL(endpoint).host}` }),
  });
  checkAddress(client.getObjectUrl({ Bucket: bucket, Region: region, Key: key, Sign: false }), address, key);
  const start = Math.floor(signedAt.getTime() / 1000) - 60;
  const authorization = COS.getAuthorization({
    SecretId: keys.id,
    SecretKey: keys.secret,
    Method: method.toLowerCase(),
    Pathname: `/${key}`,
    Query: query,
    Headers: { ...headers, host },
    KeyTime: `${start};${start + 60 + expiresInSeconds}`,
  });
  return /q-signature=([0-9a-f]+)/.exec(authorization)[1];
}

const time = '20261121T100000Z';

/** Makes a request in the form that the SDK's signer takes. */
class HttpRequest {
  constructor(parts) {
    Object.assign(this, parts);
  }
}

class Sha256 {
  constructor(key) {
    this.hash = key === undefined ? createHash('sha256') : createHmac('sha256', key);
  }
  update(data) {
    this.hash.update(data);
  }
  async digest() {
    return new Uint8Array(this.hash.digest());
  }
}

async function authorizeS3({ endpoint, bucket, region, keys, method, key, query, headers }) {
  const { protocol, host, pathPrefix } = bucketAddress({ provider: 's3', endpoint, bucket, region });
  const path = pathPrefix + key.split('/').map(encodeURIComponent).join('/');
  const encoded = path.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const signer = new SignatureV4({
    ...{ service: 's3', region, sha256: Sha256, uriEscapePath: false, applyChecksum: false },
    credentials: { accessKeyId: keys.id, secretAccessKey: keys.secret },
  });
  const own = { ...headers, host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
  const request = new HttpRequest({ protocol, path: encoded, method, query, headers: own });
  return (await signer.sign(request, { signingDate: signedAt })).headers['authorization'];
}

function authorizeOss({ bucket, region, keys, method, key, query, headers, endpoint }) {
  const { host } = bucketAddress({ provider: 'oss', endpoint, bucket, region });
  const own = { ...headers, host, 'x-oss-content-sha256': 'UNSIGNED-PAYLOAD', 'x-oss-date': time };
  const request = { headers: own, queries: query };
  return ossSigning.authorizationV4(keys.id, keys.secret, region, method, request, bucket, key, ['host']);
}

function authorizeCos({ endpoint, bucket, region, keys, method, key, query, headers }) {
  const { host } = bucketAddress({ provider: 'cos', endpoint, bucket, region });
  const start = Math.floor(signedAt.getTime() / 1000);
  return COS.getAuthorization({
    ...{ SecretId: keys.id, SecretKey: keys.secret, Method: method.toLowerCase(), Pathname: `/${key}` },
    ...{ Query: query, Headers: { ...headers, host } },
    KeyTime: `${start - 60};${start + 900}`,
  });
}

const folder = '../test/areas/storages/bucket';
async function write(name, cases, sign) {
  const signatures = [];
  for (const one of cases) signatures.push(await sign(one));
  writeFileSync(
    new URL(`${folder}/${name}.json`, import.meta.url),
    `${JSON.stringify(signatures, null, 2)}\n`,
  );
  console.log(name, signatures.length);
}

const sdks = { s3: [s3, authorizeS3], oss: [oss, authorizeOss], cos: [cos, authorizeCos] };
for (const [provider, [sign, authorize]] of Object.entries(sdks)) {
  await write(`signatures-${provider}`, signingCases(provider), sign);
  await write(`uploads-${provider}`, pinnedUploads(provider), sign);
  await write(`authorizations-${provider}`, headerCases(provider), authorize);
}
