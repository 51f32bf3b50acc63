import { generateKeyPairSync } from 'node:crypto';
import test from 'ava';
import {
  checkCdnTokenKeys,
  cdnTokenScheme,
  isRsaPrivateKey,
} from '../../../../src/areas/storages/domain/delivery/delivery.js';
import { type CdnToken, makeCdnTokenUrl } from '../../../../src/areas/storages/bucket/signing/cdn-token.js';
import { askCdn } from '../../../support/cdn/verify-cdn-token.js';
import { rsaKeys } from '../../../support/fakes/rsa-keys.js';
import { bucketUrls } from '../../../support/given/bucket-urls.js';

const spki = { type: 'spki', format: 'pem' } as const;
const publicKey = rsaKeys('ours').publicKey.export(spki) as string;
const privateKey = rsaKeys('ours').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const key = 'aliyuncdnexp1234';

function tokenOf(scheme: CdnToken['scheme'], validSeconds: number, secret = key): CdnToken {
  const keys = scheme.startsWith('cloudfront')
    ? { key_pair_id: 'K2JCJMDEHXQW5F', private_key: privateKey }
    : { key: secret };
  return { scheme, validSeconds, keys: new Map(Object.entries(keys)) };
}

/** The key of the examples of EdgeOne, whose methods are those of Tencent Cloud CDN. */
const edgeOne = 'DvYmqE81E1F9R791H6lmht';
const seconds = (time: string): number => Date.parse(time) / 1_000;

// The examples of the providers' pages. The timestamp of a page is the end here, with no life after it.
const documented: readonly [
  scheme: CdnToken['scheme'],
  secret: string,
  path: string,
  end: number,
  url: string,
][] = [
  // https://www.alibabacloud.com/help/doc-detail/85113.html (type A)
  [
    ...(['alibaba_a', key, '/video/standard/1K.html', 1_444_435_200] as const),
    '/video/standard/1K.html?auth_key=1444435200-0-0-80cd3862d699b7118eed99103f2a3a4f',
  ],
  // https://www.alibabacloud.com/help/doc-detail/85114.htm (type B)
  [
    ...([
      'alibaba_b',
      key,
      '/4/44/44c0909bcfc20a01afaf256ca99a8b8b.mp3',
      seconds('2015-08-15T08:00+08:00'),
    ] as const),
    '/201508150800/9044548ef1527deadafa49a890a377f0/4/44/44c0909bcfc20a01afaf256ca99a8b8b.mp3',
  ],
  // https://www.tencentcloud.com/document/product/1552/109330 (method B)
  [
    ...(['tencent_b', edgeOne, '/foo.jpg', seconds('2024-07-15T15:33+08:00')] as const),
    '/202407151533/d1f0b51c6894231fc12e054fcc7f0b3e/foo.jpg',
  ],
  // https://www.tencentcloud.com/document/product/1552/109331 (method C)
  [
    ...(['tencent_c', edgeOne, '/foo.jpg', 0x6694d30a] as const),
    '/6688749e8906a726c12fe1be3aacd016/6694d30a/foo.jpg',
  ],
];

test('Tokens are those of the providers’ documented examples', (t) => {
  for (const [scheme, secret, path, endsAt, expected] of documented) {
    const place = { origin: 'https://cdn.example.com', path, endsAt };
    t.is(makeCdnTokenUrl(tokenOf(scheme, 0, secret))(place), `https://cdn.example.com${expected}`, scheme);
  }
});

test('The independent edge accepts the providers’ documented examples', (t) => {
  const at = (endsAt: number): Date => new Date((endsAt - 1) * 1_000);
  const accepted = (...[scheme, secret, path, start, url]: (typeof documented)[number]): void => {
    const settings = { scheme, key: secret, validSeconds: 1 };
    t.deepEqual(askCdn(`https://cdn.example.com${url}`, at(start + 1), settings), { path }, url);
  };
  for (const example of documented) accepted(...example);
  // https://www.alibabacloud.com/help/doc-detail/85115.htm (type C; our timestamp is in lower case)
  const c = '/a37fa50a5fb8f71214b1e7c95ec7a1bd/55CE8100/test.flv';
  accepted('alibaba_c', key, '/test.flv', 0x55ce8100, c);
  // https://www.tencentcloud.com/document/product/1145/62475 (method A, with a random part)
  const a = '/foo.jpg?sign=1721028437-Kv4cPTAAP5YTi-0-0fbdca749d7ab784750685347e42075c';
  accepted('tencent_a', edgeOne, '/foo.jpg', 1_721_028_437, a);
  // https://www.tencentcloud.com/document/product/1552/109332 (method D; the page names the parameter `token`)
  const d = '/foo.jpg?sign=cadcec4a04e67b9c2abf4b61c642a0dd&t=1721029907';
  accepted('tencent_d', edgeOne, '/foo.jpg', 1_721_029_907, d);
});

test('A media URL with a token is served until its end, for its path and with its key only', (t) => {
  for (const scheme of cdnTokenScheme.options) {
    const validSeconds = scheme.startsWith('cloudfront') ? 0 : 1_800;
    const urls = bucketUrls({
      ...({ protocol: 'https:', host: 'b.s3.example.com', pathPrefix: '/', mode: 'token' } as const),
      ...{ cdnDomain: 'cdn.example.com', cdnToken: tokenOf(scheme, validSeconds) },
    });
    const signedAt = new Date('2026-02-01T10:00:00.000Z');
    const request = { key: 'fotos/Rhein im März (1).jpg', signedAt, expiresInSeconds: 1_200 };
    const url = urls.mediaUrl({ ...request, query: { 'response-content-type': 'image/jpeg' } });
    t.is(urls.mediaUrl(request), url);
    t.is(urls.mediaUrlElements, scheme.startsWith('cloudfront') ? 250 : 4, scheme);
    const settings = { scheme, key, publicKey, validSeconds };
    const end = signedAt.getTime() + 1_200_000;
    const path = '/fotos/Rhein%20im%20M%C3%A4rz%20%281%29.jpg';
    t.deepEqual(askCdn(url, signedAt, settings), { path }, url);
    t.deepEqual(askCdn(url, new Date(end - 1), settings), { path }, url);
    t.is(askCdn(url, new Date(end), settings), 'expired', url);
    t.is(askCdn(url.replace('Rhein', 'Main'), signedAt, settings), 'wrong signature');
    const other = rsaKeys('a stranger').publicKey.export(spki) as string;
    t.is(askCdn(url, signedAt, { ...settings, key: `${key}x`, publicKey: other }), 'wrong signature');
  }
});

test('Keys of a token have the names and forms of their scheme', (t) => {
  t.deepEqual([...checkCdnTokenKeys('alibaba_a', { key })], [['key', key]]);
  t.throws(() => checkCdnTokenKeys('alibaba_a', { key: 'a-b-c-d' }), { message: /token\.keys\.key/ });
  t.throws(() => checkCdnTokenKeys('tencent_d', {}), { message: /exactly key/ });
  t.throws(() => checkCdnTokenKeys('cloudfront', { key }), {
    message: /exactly key_pair_id and private_key/,
  });
  t.throws(() => checkCdnTokenKeys('cloudfront', { key_pair_id: 'K&x', private_key: privateKey }));
  t.true(isRsaPrivateKey(privateKey));
  t.false(isRsaPrivateKey(publicKey));
  t.false(isRsaPrivateKey('no key'));
  const longer = generateKeyPairSync('rsa', { modulusLength: 3_072 }).privateKey;
  t.false(isRsaPrivateKey(longer.export({ type: 'pkcs8', format: 'pem' }) as string));
});
