import test from 'ava';
import { bucketAddress } from '../../../../src/areas/storages/domain/bucket/bucket-address.js';
import type { StorageProvider } from '../../../../src/areas/storages/domain/bucket/bucket.js';

const bare = { endpoint: '', region: '' };
const s3 = { ...bare, provider: 's3', bucket: 'media' } as const;
const oss = { ...bare, provider: 'oss', bucket: 'media', region: 'cn-hangzhou' } as const;
const cos = { ...bare, provider: 'cos', bucket: 'media-125', region: 'ap-guangzhou' } as const;

interface Given {
  readonly provider: StorageProvider;
  readonly bucket: string;
  readonly endpoint: string;
  readonly region: string;
}

const addresses: readonly [Given, string][] = [
  [oss, 'https://media.oss-cn-hangzhou.aliyuncs.com/'],
  [{ ...oss, endpoint: 'https://media.example.com' }, 'https://media.example.com/'],
  [{ ...oss, endpoint: 'https://files.example.com:8443' }, 'https://files.example.com:8443/'],
  [
    { ...oss, endpoint: 'https://vpc100-oss-cn-hangzhou.aliyuncs.com' },
    'https://media.vpc100-oss-cn-hangzhou.aliyuncs.com/',
  ],
  [{ ...cos, endpoint: 'https://files.example.com' }, 'https://files.example.com/'],
  [
    { ...cos, endpoint: 'https://cos.ap-guangzhou.tencentcos.cn' },
    'https://media-125.cos.ap-guangzhou.tencentcos.cn/',
  ],
  [{ ...s3, region: 'eusc-de-east-1' }, 'https://media.s3.eusc-de-east-1.amazonaws.eu/'],
  [{ ...s3, region: 'cn-north-1' }, 'https://media.s3.cn-north-1.amazonaws.com.cn/'],
  [{ ...s3, endpoint: 'https://fly.storage.tigris.dev' }, 'https://fly.storage.tigris.dev/media/'],
  [{ ...s3, endpoint: 'https://media.fly.storage.tigris.dev' }, 'https://media.fly.storage.tigris.dev/'],
  [
    { ...s3, bucket: 'with.dots', endpoint: 'https://with.dots.s3.example.com' },
    'https://with.dots.s3.example.com/',
  ],
  [{ ...s3, endpoint: 'http://192.0.2.7:9000' }, 'http://192.0.2.7:9000/media/'],
];

for (const [given, expected] of addresses) {
  test(`The bucket ${given.bucket} of ${given.provider} at "${given.endpoint}" ${given.region} is ${expected}`, (t) => {
    const { protocol, host, pathPrefix, client } = bucketAddress(given);
    t.is(`${protocol}//${host}${pathPrefix}`, expected);
    t.deepEqual(client, { protocol, host, pathPrefix });
  });
}
