import type { StorageProvider } from '../../../../src/areas/storages/domain/bucket/bucket.js';
import type { StorageKeys } from '../../../../src/areas/storages/bucket/signing/signer.js';

/** One URL to sign, for our signers and for the official SDKs. */
export interface SigningCase {
  readonly provider: StorageProvider;
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly keys: StorageKeys;
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresInSeconds: number;
}

/** The time at which all cases are signed. */
export const signedAt = new Date('2026-11-21T10:00:00.000Z');

const plainKeys = [
  'a.txt',
  'videos/2026/clip.mp4',
  'ordner/ä ö ü/größe.jpg',
  "a b+c!'()*.bin",
  'q?x=%41&y#z.png',
  '日本/語 📷.png',
  '~_-.$&,;:@=',
  '100%/sure%20.txt',
  'back\\slash"quote<>.txt',
  '[a]{b}|c^d`e',
  'trailing.',
  'x'.repeat(200),
  'empty//segments///at/',
];
/** Only Amazon S3 has keys that begin with a slash. */
const keysOf = (provider: StorageProvider): readonly string[] =>
  provider === 's3' ? [...plainKeys, '/first//'] : plainKeys;

const overrides: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'response-content-type': 'video/mp4', 'response-content-disposition': 'inline' },
  {
    'response-content-disposition': `attachment; filename="a b.mp4"; filename*=UTF-8''a%20b%20%E2%82%AC'*.mp4`,
  },
];

const places: Readonly<
  Record<StorageProvider, readonly Pick<SigningCase, 'endpoint' | 'bucket' | 'region'>[]>
> = {
  s3: [
    { endpoint: '', bucket: 'bucket-1', region: 'eu-west-1' },
    { endpoint: '', bucket: 'bucket-1', region: 'us-east-1' },
    { endpoint: '', bucket: 'bucket-1', region: 'cn-north-1' },
    { endpoint: '', bucket: 'with.dots', region: 'eu-central-1' },
    { endpoint: 'https://minio.example.org:9000', bucket: 'bucket-1', region: 'us-east-1' },
    { endpoint: 'http://192.0.2.7:9000', bucket: 'Bucket_1', region: 'garage' },
    { endpoint: 'https://s3.us-west-004.backblazeb2.com', bucket: 'bucket-1', region: 'us-west-004' },
    {
      endpoint: `https://${'0123456789abcdef'.repeat(2)}.r2.cloudflarestorage.com`,
      bucket: 'bucket-1',
      region: 'auto',
    },
    // The host is the bucket's own name.
    { endpoint: 'https://bucket-1.fly.storage.tigris.dev', bucket: 'bucket-1', region: 'auto' },
    { endpoint: '', bucket: 'bucket-1', region: 'eusc-de-east-1' },
  ],
  oss: [
    { endpoint: '', bucket: 'bucket-1', region: 'cn-hangzhou' },
    { endpoint: 'https://oss-ap-southeast-1.aliyuncs.com', bucket: 'bucket-1', region: 'ap-southeast-1' },
    { endpoint: 'https://oss-accelerate.aliyuncs.com', bucket: 'media-2', region: 'cn-shanghai' },
    { endpoint: 'https://oss-cn-beijing-internal.aliyuncs.com', bucket: 'media-2', region: 'cn-beijing' },
    // The customer has bound the domain to the bucket.
    { endpoint: 'https://media.example.com', bucket: 'media-2', region: 'cn-hangzhou' },
  ],
  cos: [
    { endpoint: '', bucket: 'media-1250000000', region: 'ap-guangzhou' },
    { endpoint: 'https://cos.eu-frankfurt.myqcloud.com', bucket: 'media-1250000000', region: 'eu-frankfurt' },
    { endpoint: 'https://cos.ap-beijing.tencentcos.cn', bucket: 'm-1', region: 'ap-beijing' },
    { endpoint: 'https://cos.accelerate.myqcloud.com', bucket: 'media-1250000000', region: 'ap-beijing' },
    { endpoint: 'https://media.example.com', bucket: 'media-1250000000', region: 'ap-beijing' },
  ],
};

const keys: StorageKeys = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

/** Returns at least 300 cases for each provider: every place with every key and override; and uploads. */
export function signingCases(provider: StorageProvider): readonly SigningCase[] {
  const cases: SigningCase[] = [];
  for (const place of places[provider]) {
    for (const key of keysOf(provider)) {
      for (const query of overrides) {
        cases.push({
          ...{ provider, ...place, keys, key, query },
          method: 'GET',
          headers: {},
          expiresInSeconds: 60 + cases.length,
        });
      }
      for (const [index, type] of ['video/mp4', 'text/plain; charset=utf-8', 'image/svg+xml', ''].entries()) {
        cases.push({
          ...{ provider, ...place, keys, key, query: {} },
          method: 'PUT',
          headers: type === '' ? {} : { 'content-type': type },
          expiresInSeconds: 604_800 - index,
        });
      }
    }
  }
  return cases;
}

/** Returns uploads with the service's headers: media type and length pinned. */
export function pinnedUploads(provider: StorageProvider): readonly SigningCase[] {
  return places[provider].flatMap((place) =>
    keysOf(provider).map((key, index) => ({
      ...{ provider, ...place, keys, key, query: {} },
      method: 'PUT' as const,
      headers: { 'content-type': 'video/mp4', 'content-length': String(1_000 + index) },
      expiresInSeconds: 900,
    })),
  );
}

/** A request that the service signs in its headers. */
export type HeaderCase = Omit<SigningCase, 'method' | 'expiresInSeconds'> & {
  readonly method: 'GET' | 'PUT' | 'DELETE';
};

/** Returns the requests of a storage test: list, write, delete, with every awkward key. */
export function headerCases(provider: StorageProvider): readonly HeaderCase[] {
  return places[provider].flatMap((place) => {
    const common = { provider, ...place, keys, query: {}, headers: {} };
    return [
      { ...common, method: 'GET' as const, key: '', query: { 'max-keys': '1' } },
      { ...common, method: 'GET' as const, key: '', query: { 'max-keys': '1', prefix: "videos/ü (1)*!'" } },
      ...keysOf(provider).map((key, index) => ({
        ...common,
        ...headerRequests[index % 2 === 0 ? 0 : 1],
        key,
      })),
    ];
  });
}

const headerRequests = [
  { method: 'PUT', headers: { 'content-type': 'text/x-stowage-probe' } },
  { method: 'DELETE' },
] as const;
