import test from 'ava';
import fc from 'fast-check';
import {
  contentDisposition,
  fileName,
  isShownSafely,
  isOfPlaylist,
  makeMediaLinks,
  signMediaLinks,
  type LinkedAsset,
} from '../../../../src/areas/assets/commands/media-links.js';
import { bucketAddress } from '../../../../src/areas/storages/domain/bucket/bucket-address.js';
import type { DeliveryMode } from '../../../../src/areas/storages/domain/delivery/delivery.js';
import { makeStorageUrls } from '../../../../src/areas/storages/bucket/signing/media-urls.js';
import { anyText } from '../../../support/examples/any-text.js';
import { projectId } from '../../../support/examples/ids.js';
import { configuration, credentials as sealed } from '../../../support/examples/storage.js';

const asset: LinkedAsset = {
  name: 'Rhine at dawn',
  object_key: '2026/rhine.mp4',
  media_type: 'video/mp4',
  renditions: [{ kind: 'thumbnail', object_key: '2026/rhine.jpg', media_type: 'image/jpeg' }],
};
const now = new Date('2026-11-21T14:03:59.999Z');

function storageWith(changes: Partial<typeof configuration> = {}, delivery: DeliveryMode = 'origin') {
  const configured = { ...configuration, cdn_domain: '', ...changes };
  const address = { ...bucketAddress(configured), cdnDomain: configured.cdn_domain, mode: delivery };
  return {
    urls: makeStorageUrls(address, { id: 'an-access-key', secret: 'a secret' }),
    storage: {
      status: 'active',
      projectId,
      configuration: configured,
      credentials: { version: 1, sealed },
      credentialsVersionMax: 1,
      delivery,
      cdnToken: null,
      test: null,
      warnings: [],
      corsSet: null,
      candidate: null,
    },
  } as const;
}

const linksOf = (
  storage: ReturnType<typeof storageWith>,
  changes: Partial<Omit<Parameters<typeof makeMediaLinks>[0], 'storage'>> = {},
) => makeMediaLinks({ storage, asset, disposition: 'inline', now, until: null, ...changes });
/** Returns the URL of the file itself. */
const urlOf = (...request: Parameters<typeof linksOf>) => linksOf(...request)[0]?.url ?? '';

test('Each file of an asset has a link that names its type and its file name', (t) => {
  const links = linksOf(storageWith());
  t.deepEqual(
    links.map(({ kind, method, media_type }) => [kind, method, media_type]),
    [
      ['original', 'GET', 'video/mp4'],
      ['thumbnail', 'GET', 'image/jpeg'],
    ],
  );
  const [own, thumbnail] = links.map(({ url }) => new URL(url));
  t.is(own?.host, 'rivers-media.oss-cn-hangzhou.aliyuncs.com');
  t.is(own?.pathname, '/videos/2026/2026/rhine.mp4');
  t.is(own?.searchParams.get('response-content-type'), 'video/mp4');
  t.is(
    own?.searchParams.get('response-content-disposition'),
    `inline; filename="Rhine at dawn.mp4"; filename*=UTF-8''Rhine%20at%20dawn.mp4`,
  );
  t.regex(thumbnail?.searchParams.get('response-content-disposition') ?? '', /"Rhine at dawn-thumbnail.jpg"/);
});

test('The links of one window are the same and live 15 to 20 minutes', (t) => {
  const linksAt = (time: string) => linksOf(storageWith(), { now: new Date(time) });
  const links = linksAt('2026-11-21T14:00:00.000Z');
  t.is(links[0]?.expires_at, '2026-11-21T14:20:00.000Z');
  t.deepEqual(linksAt('2026-11-21T14:04:59.999Z'), links);
  t.is(linksAt('2026-11-21T14:05:00.000Z')[0]?.expires_at, '2026-11-21T14:25:00.000Z');
  const query = new URL(links[0]?.url ?? '').searchParams;
  t.is(query.get('x-oss-date'), '20261121T140000Z');
  t.is(query.get('x-oss-expires'), '1200');
});

test('No link outlives its bound, not even in the last second', (t) => {
  for (const until of [
    '2026-11-21T14:10:00.000Z',
    '2026-11-21T14:04:00.500Z',
    '2026-11-21T14:04:00.000Z',
    '2026-11-21T14:00:00.400Z',
  ]) {
    const end = new Date(until);
    const before = new Date(Math.min(end.getTime() - 1, now.getTime()));
    const [link] = linksOf(storageWith(), { now: before, until: end });
    const query = new URL(link?.url ?? '').searchParams;
    const signed = (query.get('x-oss-date') ?? '').replace(
      /^(....)(..)(..)T(..)(..)(..)Z$/,
      '$1-$2-$3T$4:$5:$6Z',
    );
    const life = Number(query.get('x-oss-expires')) * 1_000;
    t.true(Date.parse(signed) + life <= end.getTime(), until);
    t.is(Date.parse(signed) + life, Date.parse(link?.expires_at ?? ''), until);
  }
});

test.serial(
  'Of links whose signatures take a quarter of a turn, the process makes four in a turn',
  async (t) => {
    // Given a storage that counts its signatures in each turn of the event loop
    const { urls, ...opened } = storageWith();
    const signedIn = [0];
    const mediaUrl: typeof urls.mediaUrl = (request) => {
      signedIn.push((signedIn.pop() ?? 0) + 1);
      return urls.mediaUrl(request);
    };
    const storage = { ...opened, urls: { ...urls, mediaUrl, mediaUrlElements: 250 } };
    let counting = true;
    const countTurns = (): void => {
      signedIn.push(0);
      if (counting) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    // When the links of eight assets with two files each are signed
    const given = { storage, asset, disposition: 'inline', now, until: null } as const;
    const links = await Promise.all(Array.from({ length: 8 }, () => signMediaLinks(given)));
    counting = false;
    // Then no turn makes more
    t.is(links.flat().length, 16);
    t.deepEqual(
      signedIn.filter((count) => count > 0),
      [4, 4, 4, 4],
    );
  },
);

test('Links use the domain of the storage as its delivery mode says', (t) => {
  const through = (delivery: DeliveryMode) =>
    linksOf(storageWith({ cdn_domain: 'cdn.example.com' }, delivery)).map(({ url }) => new URL(url));
  for (const mode of ['origin', 'rewrite', 'public'] as const) {
    for (const url of through(mode)) t.is(url.host, 'cdn.example.com', mode);
  }
  t.is(through('public')[0]?.search, '');
  const signature = (mode: DeliveryMode) => through(mode)[0]?.searchParams.get('x-oss-signature');
  t.not(signature('origin'), signature('rewrite'));
});

test('A CDN that rewrites the host gets the URL of the bucket under its host name', (t) => {
  const object = { ...asset, object_key: "a b/ü'(1).mp4" };
  const linkOf = (...storage: Parameters<typeof storageWith>) =>
    urlOf(storageWith(...storage), { asset: object });
  const places = [
    [{}, 'https://rivers-media.oss-cn-hangzhou.aliyuncs.com/videos/2026/'],
    [
      { provider: 's3', endpoint: '', region: 'eu-west-1' },
      'https://rivers-media.s3.eu-west-1.amazonaws.com/videos/2026/',
    ],
    [
      { provider: 's3', endpoint: 'http://10.0.0.1:9000', region: '', base_path: '' },
      'http://10.0.0.1:9000/rivers-media/',
    ],
    [
      { provider: 'cos', endpoint: '', bucket: 'media-1250000000', region: 'ap-beijing' },
      'https://media-1250000000.cos.ap-beijing.myqcloud.com/videos/2026/',
    ],
  ] as const;
  const through = { cdn_domain: 'cdn.example.com' };
  for (const [place, begin] of places) {
    const direct = linkOf(place, 'rewrite');
    t.true(direct.startsWith(`${begin}a%20b/%C3%BC%27%281%29.mp4?`), direct);
    const { protocol, host } = new URL(direct);
    const rewritten = linkOf({ ...place, ...through }, 'rewrite');
    t.is(rewritten, direct.replace(`${protocol}//${host}/`, 'https://cdn.example.com/'));
    // A domain that names or reads the bucket itself gets no bucket in the path.
    const [path = ''] = direct.slice(begin.length).split('?');
    const basePath = begin.endsWith('videos/2026/') ? 'videos/2026/' : '';
    const named = linkOf({ ...place, ...through }, 'origin');
    t.true(named.startsWith(`https://cdn.example.com/${basePath}${path}?`), named);
    t.is(linkOf({ ...place, ...through }, 'public'), `https://cdn.example.com/${basePath}${path}`);
  }
});

test("A host that only resolves inside the provider's network is in no link and no upload URL", (t) => {
  const internal = {
    'https://oss-cn-hangzhou-internal.aliyuncs.com': 'rivers-media.oss-cn-hangzhou.aliyuncs.com',
    'https://oss-cn-hangzhou.aliyuncs.com': 'rivers-media.oss-cn-hangzhou.aliyuncs.com',
  };
  for (const [endpoint, host] of Object.entries(internal)) {
    for (const mode of ['origin', 'rewrite'] as const) {
      const storage = storageWith({ endpoint }, mode);
      t.is(new URL(urlOf(storage)).host, host);
      const upload = storage.urls.uploadUrl({ key: 'a', signedAt: now, expiresInSeconds: 60 });
      t.is(new URL(upload).host, host);
    }
  }
  const [open, closed] = Object.keys(internal).map((endpoint) =>
    urlOf(storageWith({ endpoint, cdn_domain: 'cdn.example.com' }, 'rewrite')),
  );
  t.is(open, closed);
  const cos = { provider: 'cos', bucket: 'media-1250000000', region: 'ap-beijing' } as const;
  const s3 = { provider: 's3', bucket: 'media', region: 'cn-beijing' } as const;
  for (const [bucket, endpoint, host] of [
    [cos, 'cos-internal.ap-beijing.tencentcos.cn', 'media-1250000000.cos.ap-beijing.tencentcos.cn'],
    [s3, 's3.oss-cn-beijing-internal.aliyuncs.com', 'media.s3.oss-cn-beijing.aliyuncs.com'],
    // This name only resembles an internal one.
    [s3, 'oss-x-internal.example.com', 'oss-x-internal.example.com'],
  ] as const)
    t.is(bucketAddress({ ...bucket, endpoint: `https://${endpoint}` }).client.host, host);
});

test('Links and upload URLs name the public endpoint, and the bucket in its style', (t) => {
  const place = { bucket: 'media', endpoint: 'http://10.0.0.1:9000', region: '' };
  const onPremises = { provider: 's3', ...place } as const;
  const places = [
    [{ public_endpoint: 'https://media.example.com' }, 'https://media.example.com/videos/'],
    [
      { ...onPremises, public_endpoint: 'https://files.example.com:8443' },
      'https://files.example.com:8443/media/videos/',
    ],
    [
      { ...onPremises, public_endpoint: 'https://media.files.example.com' },
      'https://media.files.example.com/videos/',
    ],
  ] as const;
  for (const [place, begin] of places) {
    const storage = storageWith(place);
    const link = urlOf(storage);
    t.true(link.startsWith(begin), link);
    const upload = storage.urls.uploadUrl({ key: 'videos/a', signedAt: now, expiresInSeconds: 60 });
    t.true(upload.startsWith(`${begin}a?`), upload);
    const own = storage.urls.bucket.presign({ method: 'GET', key: 'a', signedAt: now, expiresInSeconds: 60 });
    t.false(own.startsWith(begin), 'the service itself uses the endpoint');
    const behind = storageWith({ ...place, cdn_domain: 'cdn.example.com' }, 'rewrite');
    t.is(urlOf(behind), link.replace(/^https:\/\/[^/]+/, 'https://cdn.example.com'));
  }
});

test('A type that a browser could run is never inline', (t) => {
  for (const mediaType of [
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'application/xhtml+xml',
    'image/svg+xml',
    'image/SVG+XML;charset=utf-8',
    'text/xml',
    'application/atom+xml',
    'text/javascript',
    'application/javascript',
    'application/x-shockwave-flash',
    'multipart/related',
    'message/rfc822',
    'application/octet-stream',
    'unknown/unknown',
    'video/x+xml',
    '',
  ]) {
    t.false(isShownSafely(mediaType), mediaType);
    t.regex(contentDisposition('inline', { name: 'a', mediaType }), /^attachment;/);
  }
  for (const mediaType of [
    'video/mp4',
    'audio/mpeg',
    'Image/PNG',
    'text/plain; charset=utf-8',
    'application/pdf',
  ]) {
    t.true(isShownSafely(mediaType), mediaType);
    t.regex(contentDisposition('inline', { name: 'a', mediaType }), /^inline;/);
    t.regex(contentDisposition('attachment', { name: 'a', mediaType }), /^attachment;/);
  }
});

test('A file name is complete in either encoding of the header, and adds nothing to the header', (t) => {
  const named = (name: string) => contentDisposition('attachment', { name, mediaType: 'video/mp4' });
  t.is(
    named('Zürich 100%.mp4'),
    `attachment; filename="Z_rich 100_.mp4"; filename*=UTF-8''Z%C3%BCrich%20100%25.mp4`,
  );
  t.is(
    named('a"; filename=evil.exe\r\nX: y/../\\z\u202Egpj.exe'),
    `attachment; filename="a_; filename=evil.exe__X_ y_.._` +
      `_z_gpj.exe"; filename*=UTF-8''a%22%3B%20filename%3Devil.exe__X_%20y_.._` +
      `_z_gpj.exe`,
  );
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (name) => {
      const header = named(fileName(name, 'a.mp4', null));
      const parts = /^attachment; filename="([^"\\%]*)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(header);
      if (parts === null || !/^[\x20-\x7e]*$/.test(header)) return false;
      return Buffer.byteLength(decodeURIComponent(parts[2] ?? '')) <= 161;
    }),
  );
});

test('A file has the name of its asset, and one extension', (t) => {
  const rendition = { kind: 'thumb', object_key: 'a/b.jpg' };
  const names: readonly (readonly [name: string, key: string, own: string, thumb: string])[] = [
    ['Rhine', 'a/rhine.mp4', 'Rhine.mp4', 'Rhine-thumb.jpg'],
    ['rhine.MP4', 'a/rhine.mp4', 'rhine.MP4', 'rhine-thumb.jpg'],
    ['Report.pdf', 'blob.bin', 'Report.pdf', 'Report-thumb.jpg'],
    ['holiday.jpg', '123.jpeg', 'holiday.jpg', 'holiday-thumb.jpg'],
    ['rhine.mov', 'a/rhine.mp4', 'rhine.mov', 'rhine-thumb.jpg'],
    ['Talk by J.Smith', 'talk.mp4', 'Talk by J.Smith.mp4', 'Talk by J.Smith-thumb.jpg'],
    ['scene.x1y', 'a.X1Y', 'scene.x1y', 'scene-thumb.jpg'],
    ['v1.2', 'a.b/rhine', 'v1.2', 'v1.2-thumb.jpg'],
    ['v1.2', 'rhine.mp4', 'v1.2.mp4', 'v1.2-thumb.jpg'],
    ['.mp4', 'rhine.mp4', '.mp4', '.mp4-thumb.jpg'],
    ['日'.repeat(255), 'a.mp4', `${'日'.repeat(50)}.mp4`, `${'日'.repeat(50)}-thumb.jpg`],
  ];
  for (const [name, key, own, thumb] of names) {
    t.is(fileName(name, key, null), own);
    t.is(fileName(name, key, rendition), thumb);
  }
});

test('What a playlist may name is the playlist itself and what lies in its folder', (t) => {
  const isOf = (root: string) => (key: string) => isOfPlaylist(key, root);
  const keys = ['film/hls/index.m3u8', 'film/hls/720/a.ts', 'film/hls2/a.ts', 'film/hl/a.ts', 'film/a.ts'];
  t.deepEqual(keys.filter(isOf('film/hls/index.m3u8')), ['film/hls/index.m3u8', 'film/hls/720/a.ts']);
  // A playlist at the top has every object in its folder
  t.deepEqual(keys.filter(isOf('index.m3u8')), keys);
});
