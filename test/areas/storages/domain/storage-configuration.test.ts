import test from 'ava';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { makeAllowsHttp } from '../../../../src/areas/storages/domain/bucket/bucket.js';
import {
  checkConfiguration,
  type StorageConfiguration,
} from '../../../../src/areas/storages/domain/storage/storage.js';
import { checkCredentials } from '../../../../src/areas/storages/domain/bucket/connection.js';
import { configuration } from '../../../support/examples/storage.js';

const bare: StorageConfiguration = {
  ...configuration,
  endpoint: '',
  region: '',
  base_path: '',
  cdn_domain: '',
};
const s3 = { ...bare, provider: 's3', bucket: 'media' } as const;
const oss = { ...bare, provider: 'oss', bucket: 'media' } as const;
const cos = { ...bare, provider: 'cos', bucket: 'media-1250000000', region: 'ap-guangzhou' } as const;

const allowsHttp = (address: string): boolean => address === '10.1.2.3' || address === 'fd00::9';
const check = (input: StorageConfiguration): StorageConfiguration => checkConfiguration(input, allowsHttp);

type Row = readonly [what: string, input: StorageConfiguration, expected: Partial<StorageConfiguration>];
/** An endpoint, which stays as it is unless another one is expected. */
const endpoint = (what: string, of: StorageConfiguration, given: string, expected = given): Row => [
  what,
  { ...of, endpoint: given },
  { endpoint: expected },
];
/** An endpoint that stays as it is, and a region. */
const placed = (what: string, of: StorageConfiguration, endpoint: string, region: string): Row => [
  what,
  { ...of, endpoint, region },
  { endpoint, region },
];
const hangzhou = { ...oss, region: 'cn-hangzhou' };
const beijing = { ...oss, region: 'cn-beijing' };
const amazon = 'https://s3.eu-west-1.amazonaws.com';
const minio = 'https://minio.example.com';
const ofFiles = { ...beijing, endpoint: 'https://files.example.com' };

const normalised: readonly Row[] = [
  ['only the bucket', s3, { endpoint: '', region: '', base_path: '', cdn_domain: '' }],
  ['white space around a name', { ...s3, name: '  Media ' }, { name: 'Media' }],
  endpoint('a slash after the host', s3, `${amazon}/`, amazon),
  endpoint('a host without a scheme', s3, 'minio.example.com:9000', `${minio}:9000`),
  endpoint('capitals in a host', s3, 'HTTPS://MinIO.Example.COM', minio),
  endpoint('the usual port', s3, `${minio}:443`, minio),
  endpoint('the bucket before the host', s3, 'https://media.s3.eu-west-1.amazonaws.com', amazon),
  endpoint(
    'the bucket before a host of your own, which keeps its style',
    s3,
    'https://media.minio.example.com',
  ),
  endpoint(
    'a bucket with capitals before a host, which has none',
    { ...s3, bucket: 'Media' },
    'https://Media.minio.example.com',
    minio,
  ),
  endpoint(
    'the European Sovereign Cloud',
    { ...s3, region: 'eusc-de-east-1' },
    'https://media.s3.eusc-de-east-1.amazonaws.eu',
    'https://s3.eusc-de-east-1.amazonaws.eu',
  ),
  endpoint('a domain that is bound to an oss bucket', hangzhou, 'https://media.example.com'),
  endpoint(
    'a domain that is bound to a cos bucket, which needs no region',
    { ...cos, region: '' },
    'files.example.com',
    'https://files.example.com',
  ),
  endpoint(
    'the bucket before a host of oss that the service does not know',
    beijing,
    'https://media.vpc100-oss-cn-beijing.aliyuncs.com',
    'https://vpc100-oss-cn-beijing.aliyuncs.com',
  ),
  endpoint(
    'the face of oss for the S3 protocol',
    s3,
    'https://media.s3.oss-cn-beijing.aliyuncs.com',
    'https://s3.oss-cn-beijing.aliyuncs.com',
  ),
  ['neither endpoint nor region for oss', oss, { endpoint: '', region: '' }],
  endpoint(
    'a bucket that is named like the service',
    { ...s3, bucket: 's3-eu-west-1' },
    'https://s3-eu-west-1.amazonaws.com',
  ),
  endpoint('http to an allowed address', s3, 'http://10.1.2.3:9000'),
  endpoint('http to an allowed IPv6 address', s3, 'http://[fd00::9]:9000'),
  placed('the region of the endpoint', s3, amazon, 'eu-west-1'),
  placed('any region with a host of your own', s3, minio, 'RegionOne'),
  placed('R2', s3, `https://${'0a'.repeat(16)}.eu.r2.cloudflarestorage.com`, 'auto'),
  ['capitals in an s3 bucket', { ...s3, bucket: 'Old_Bucket.One' }, { bucket: 'Old_Bucket.One' }],
  ['oss- before a region', { ...oss, region: 'oss-cn-hangzhou' }, { region: 'cn-hangzhou' }],
  endpoint(
    'an internal endpoint of oss',
    hangzhou,
    'https://media.oss-cn-hangzhou-internal.aliyuncs.com',
    'https://oss-cn-hangzhou-internal.aliyuncs.com',
  ),
  placed('acceleration, which has no region', oss, 'https://oss-accelerate.aliyuncs.com', 'cn-beijing'),
  [
    'only a full endpoint for cos',
    { ...cos, region: '', endpoint: 'https://media-1250000000.cos.ap-guangzhou.myqcloud.com' },
    { endpoint: 'https://cos.ap-guangzhou.myqcloud.com', region: '' },
  ],
  ['a backslash at the start of an s3 path', { ...s3, base_path: '\\a' }, { base_path: '\\a' }],
  [
    'a second endpoint for browsers, beside one inside the provider’s network',
    {
      ...{ ...oss, endpoint: 'https://oss-cn-hangzhou-internal.aliyuncs.com' },
      public_endpoint: 'https://Media.example.com/',
    },
    { public_endpoint: 'https://media.example.com' },
  ],
  [
    'an http server on premises that browsers reach by another name',
    { ...s3, endpoint: 'http://10.1.2.3:9000', public_endpoint: 'media.files.example.com' },
    { endpoint: 'http://10.1.2.3:9000', public_endpoint: 'https://media.files.example.com' },
  ],
  endpoint('underscores in a host, as Compose makes them', s3, 'https://_my_minio_1:9000'),
  ['outer and double slashes', { ...s3, base_path: '//a//b/ c/' }, { base_path: 'a/b/ c' }],
  ['a path of slashes', { ...s3, base_path: '///' }, { base_path: '' }],
  [
    'a CDN host with capitals and an umlaut',
    { ...s3, cdn_domain: 'CDN.Bücher.example' },
    { cdn_domain: 'cdn.xn--bcher-kva.example' },
  ],
];

for (const [what, input, expected] of normalised) {
  test(`A configuration with ${what} is accepted and normalised`, (t) => {
    const once = check(input);
    t.like(once, expected);
    t.deepEqual(check(once), once, 'normalising again changes nothing');
  });
}

type Field = keyof StorageConfiguration;
const refused: readonly [string, Field, StorageConfiguration][] = [
  ['no name', 'name', { ...s3, name: '   ' }],
  ['a long name', 'name', { ...s3, name: 'é'.repeat(65) }],
  ['a long name, with its white space', 'name', { ...s3, name: ` ${'e'.repeat(64)}` }],
  ['a control character in a name', 'name', { ...s3, name: 'a\u0007b' }],
  ...(
    [
      ['http to a name', 'http://minio.example.com'],
      ['http to an address that is not allowed', 'http://10.1.2.4'],
      ['http to an allowed address that is only the start of a name', 'http://10.1.2.3.example.com'],
      ['another scheme', 'ftp://example.com'],
      ['a path', 'https://example.com/media'],
      ['a query', 'https://example.com?x=1'],
      ['an empty fragment', 'https://example.com/#'],
      ['credentials', 'https://user:secret@example.com'],
      ['a backslash', 'https:\\\\example.com'],
      ['white space', 'https://exa mple.com'],
      ['no host', 'https://'],
      ['a percent sign in a host', 'https://a%25b.example.com'],
      ['another bucket before a host of Amazon', 'https://a.media.s3.eu-west-1.amazonaws.com'],
      ['another bucket with dots before a host', 'https://a.b.s3.eu-west-1.amazonaws.com'],
      ['an address for oss', 'https://203.0.113.7', beijing],
      ['an IPv6 address for cos', 'https://[2001:db8::7]:9000', cos],
      ['an allowed address for oss', 'http://10.1.2.3', beijing],
      ['another bucket before a host of oss', 'https://other.oss-cn-beijing.aliyuncs.com', oss],
      ['another bucket before a host of cos', 'https://x-125.cos.ap-guangzhou.myqcloud.com', cos],
    ] as const
  ).map(
    ([what, endpoint, of = s3]) =>
      [what, 'endpoint', { ...of, endpoint }] as [string, Field, StorageConfiguration],
  ),
  ['another region than the endpoint', 'region', { ...s3, endpoint: amazon, region: 'us-east-1' }],
  [
    'another region than the endpoint with the bucket in front',
    'region',
    { ...beijing, endpoint: 'https://media.oss-cn-hangzhou.aliyuncs.com' },
  ],
  ['a domain for oss without a region', 'region', { ...oss, endpoint: 'https://media.example.com' }],
  [
    'acceleration for oss without a region',
    'region',
    { ...oss, endpoint: 'https://oss-accelerate.aliyuncs.com' },
  ],
  [
    'acceleration for s3 without a region',
    'region',
    { ...s3, endpoint: 'https://s3-accelerate.amazonaws.com' },
  ],
  ...(
    [
      ['a path for browsers', s3, 'https://example.com/media'],
      ['http for browsers', s3, 'http://minio.example.com'],
      ['an address of oss for browsers', oss, 'https://203.0.113.7'],
      ['another bucket for browsers', cos, 'https://x-125.cos.ap-guangzhou.myqcloud.com'],
      ['another provider for browsers', s3, 'https://oss-cn-hangzhou.aliyuncs.com'],
      ['another region for browsers', ofFiles, 'https://oss-cn-hangzhou.aliyuncs.com'],
      [
        'a name for browsers that only the provider’s network knows',
        oss,
        'https://oss-cn-hangzhou-internal.aliyuncs.com',
      ],
    ] as const
  ).map(
    ([what, of, public_endpoint]) =>
      [what, 'public_endpoint', { ...of, public_endpoint }] as [string, Field, StorageConfiguration],
  ),
  ['an invalid region', 'region', { ...oss, region: 'cn hangzhou' }],
  ['neither region nor endpoint for cos', 'region', { ...cos, region: '' }],
  ['a short bucket', 'bucket', { ...s3, bucket: 'ab' }],
  ['an address as bucket', 'bucket', { ...s3, bucket: '192.168.5.4' }],
  ['two dots in a bucket', 'bucket', { ...s3, bucket: 'a..b' }],
  ['a slash in a bucket', 'bucket', { ...s3, bucket: 'a/b' }],
  ['a dot in an oss bucket', 'bucket', { ...oss, bucket: 'a.b.c' }],
  ['a capital in an oss bucket', 'bucket', { ...oss, bucket: 'Media' }],
  ['a hyphen at the end of an oss bucket', 'bucket', { ...oss, bucket: 'media-' }],
  ['a cos bucket without APPID', 'bucket', { ...cos, bucket: 'media' }],
  ['a cos bucket with a long name', 'bucket', { ...cos, bucket: `${'m'.repeat(51)}-125` }],
  ['a dot segment', 'base_path', { ...s3, base_path: 'a/./b' }],
  ['a double-dot segment', 'base_path', { ...s3, base_path: '../b' }],
  ['a line feed in a path', 'base_path', { ...s3, base_path: 'a\nb' }],
  ['a backslash at the start of an oss path', 'base_path', { ...oss, base_path: '/\\a' }],
  ['a backslash at the start of a cos path', 'base_path', { ...cos, base_path: '\\a/b' }],
  ['half a character in a path', 'base_path', { ...s3, base_path: 'a\ud800' }],
  ['a path of 513 bytes', 'base_path', { ...s3, base_path: `${'é'.repeat(256)}a` }],
  ['a scheme before a CDN host', 'cdn_domain', { ...s3, cdn_domain: 'https://cdn.example.com' }],
  ['a port after a CDN host', 'cdn_domain', { ...s3, cdn_domain: 'cdn.example.com:8443' }],
  ['an address as CDN host', 'cdn_domain', { ...s3, cdn_domain: '192.0.2.1' }],
  ['one label as CDN host', 'cdn_domain', { ...s3, cdn_domain: 'cdn' }],
];

for (const [what, field, input] of refused) {
  test(`A configuration with ${what} is refused`, (t) => {
    const error = t.throws(() => check(input), { instanceOf: CommandRejected });
    t.is(error.code, 'invalid_request');
    t.true(error.message.startsWith(`${field} `), error.message);
  });
}

test('A path of 512 bytes is accepted', (t) => {
  t.is(check({ ...s3, base_path: 'é'.repeat(256) }).base_path.length, 256);
});

test('Credentials are exactly the two keys of the provider', (t) => {
  t.deepEqual(
    [...checkCredentials('cos', { secret_id: 'a', secret_key: 'b' })],
    [
      ['secret_id', 'a'],
      ['secret_key', 'b'],
    ],
  );
  for (const provider of ['oss', 's3'] as const) {
    t.is(checkCredentials(provider, { access_key: 'a', secret_key: 'b' }).size, 2);
  }
});

const badCredentials: readonly [string, Readonly<Record<string, string>>][] = [
  ['credentials', { access_key: 'a' }],
  ['credentials', { access_key: 'a', secret_key: 'b', token: 'c' }],
  ['credentials', { secret_id: 'a', secret_key: 'b' }],
  ['credentials', {}],
  ['credentials.access_key', { access_key: ' ', secret_key: 'b' }],
  ['credentials.access_key', { access_key: 'schlüssel', secret_key: 'b' }],
  ['credentials.secret_key', { access_key: 'a', secret_key: 'b\n' }],
  ['credentials.secret_key', { access_key: 'a', secret_key: 'b\u0000c' }],
];

for (const [field, credentials] of badCredentials) {
  test(`The credentials ${JSON.stringify(credentials)} are refused`, (t) => {
    const error = t.throws(() => checkCredentials('s3', credentials), { instanceOf: CommandRejected });
    t.true(error.message.startsWith(`${field} `), error.message);
  });
}

test('A refusal does not repeat the input', (t) => {
  const canary = 'CANARY-0815';
  for (const credentials of [{ [canary]: canary }, { access_key: ` ${canary}`, secret_key: canary }]) {
    const error = t.throws(() => checkCredentials('s3', credentials), { instanceOf: CommandRejected });
    t.false(error.message.includes(canary));
  }
});

const ofOthers: readonly [string, StorageConfiguration, string][] = [
  ['oss under s3', { ...s3, endpoint: 'https://oss-cn-beijing.aliyuncs.com' }, 'oss'],
  ['an oss bucket under s3', { ...s3, endpoint: 'https://media.oss-cn-beijing.aliyuncs.com' }, 'oss'],
  ['cos under s3', { ...s3, endpoint: 'https://cos.ap-guangzhou.myqcloud.com' }, 'cos'],
  ['a cos bucket under s3', { ...s3, endpoint: 'https://m-125.cos.ap-guangzhou.tencentcos.cn' }, 'cos'],
  ['cos under oss', { ...oss, endpoint: 'https://cos.ap-guangzhou.myqcloud.com' }, 'cos'],
  ['Amazon under cos', { ...cos, endpoint: 'https://s3.eu-west-1.amazonaws.com' }, 's3'],
  ['the S3 face of oss under oss', { ...oss, endpoint: 'https://s3.oss-cn-beijing.aliyuncs.com' }, 's3'],
];

for (const [what, input, provider] of ofOthers) {
  test(`A host of ${what} is refused with the provider to choose`, (t) => {
    const error = t.throws(() => check(input), { instanceOf: CommandRejected });
    t.regex(error.message, new RegExp(`^endpoint is a host of .*: choose the provider ${provider}$`));
  });
}

test('A host that is the own name of a bucket does not pass to another bucket', (t) => {
  const bound = check({ ...oss, endpoint: 'https://media.example.com', region: 'cn-hangzhou' });
  const before = check({ ...s3, endpoint: 'https://media.minio.example.com' });
  for (const present of [bound, before]) {
    const error = t.throws(() => checkConfiguration({ ...present, bucket: 'lakes' }, allowsHttp, present));
    t.regex(error.message, /^endpoint is the own name of the present bucket/);
    const moved = { ...present, bucket: 'lakes', endpoint: 'https://lakes.example.com' };
    t.like(checkConfiguration(moved, allowsHttp, present), { bucket: 'lakes' });
  }
  const path = check({ ...s3, endpoint: 'https://minio.example.com' });
  t.like(checkConfiguration({ ...path, bucket: 'lakes' }, allowsHttp, path), { bucket: 'lakes' });
});

test('A name over http is for s3, and only where the operator allows addresses', (t) => {
  const compose = { ...s3, endpoint: 'http://minio:9000' };
  const some = makeAllowsHttp(['10.0.0.0/8']);
  t.is(checkConfiguration(compose, some).endpoint, 'http://minio:9000');
  t.is(checkConfiguration({ ...s3, endpoint: 'http://10.1.2.3' }, some).endpoint, 'http://10.1.2.3');
  const refusals: readonly [StorageConfiguration, string[]][] = [
    [compose, []],
    [{ ...s3, endpoint: 'http://11.1.2.3' }, ['10.0.0.0/8']],
    [{ ...oss, endpoint: 'http://media.example.com', region: 'cn-hangzhou' }, ['10.0.0.0/8']],
    [{ ...cos, endpoint: 'http://media.example.com' }, ['10.0.0.0/8']],
  ];
  for (const [input, cidrs] of refusals) {
    const error = t.throws(() => checkConfiguration(input, makeAllowsHttp(cidrs)));
    t.regex(error.message, /^endpoint must use https/);
  }
});
