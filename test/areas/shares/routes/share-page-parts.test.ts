/* The parts of the page of shares that need no browser. test/servers/share-page.test.ts tests the page. */
import test from 'ava';
import { accentsOf, contrastOf } from '../../../../src/areas/shares/page/browser/accent.js';
import {
  type Abilities,
  apartUrlOf,
  candidatesOf,
  savedVersionsOf,
  stillOf,
} from '../../../../src/areas/shares/page/browser/player/candidates.js';
import { describeKind, describeShare } from '../../../../src/areas/shares/page/browser/opening/facts.js';
import { makeShareFormats } from '../../../../src/areas/shares/page/browser/player/formats.js';
import { makeKeptSession } from '../../../../src/areas/shares/page/browser/opening/share-client.js';
import {
  renewedOpening,
  type SharedFile,
} from '../../../../src/areas/shares/page/browser/opening/share-reply.js';
import { readShareWords } from '../../../../src/areas/shares/page/browser/texts.js';
import { webVttOf } from '../../../../src/areas/shares/page/browser/player/web-vtt.js';
import { readShareTexts } from '../../../../src/areas/shares/page/negotiate-language.js';

/** A browser that plays MP4 and MP3, and shows documents. */
const abilities: Abilities = {
  canPlay: (_, type) => (['video/mp4', 'audio/mpeg'].includes(type) ? 'maybe' : ''),
  showsDocuments: true,
  opensDocuments: true,
};

/** Makes an asset; each rendition is `kind type`. */
function asset(type: string, renditions: readonly string[] = [], size = 1_000): SharedFile {
  const media = [`original ${type}`, ...renditions].map((text) => {
    const [kind = '', media_type = ''] = text.split(' ');
    const url = `https://bucket.example/${kind}`;
    const inline = media_type === 'application/pdf' ? { inline_url: `${url}?inline` } : {};
    return { kind, url, media_type, expires_at: '2026-11-23T05:00:00Z', ...inline };
  });
  return { id: 'a', name: 'Rhine', media_type: type, size, media };
}

const words = Object.fromEntries(
  readShareTexts().map(({ language, tag, texts }) => [
    language,
    readShareWords(JSON.stringify({ tag, texts })),
  ]),
);

test('A visitor saves every rendition except a stream, whose file is a list of URLs', (t) => {
  const film = asset('video/mp4', [
    'hls application/vnd.apple.mpegurl',
    'preview video/webm',
    'poster image/png',
  ]);
  t.deepEqual(
    savedVersionsOf(film).map(({ kind }) => kind),
    ['preview', 'poster'],
  );
  t.deepEqual(savedVersionsOf(asset('video/mp4', ['hls application/x-mpegurl'])), []);
});

test('The page tries the best file that a browser can show first, and a still image last', (t) => {
  const cases: readonly (readonly [SharedFile, readonly string[]])[] = [
    [asset('image/png'), ['image original']],
    [
      asset('image/png', ['thumbnail image/jpeg', 'preview image/webp']),
      ['image preview', 'image original', 'image thumbnail'],
    ],
    [asset('image/png', ['thumbnail image/jpeg'], 200_000_000), ['image thumbnail', 'image original']],
    [asset('image/heic', ['thumbnail image/jpeg']), ['image thumbnail']],
    [asset('image/tiff'), []],
    [asset('image/vnd.adobe.photoshop', ['preview image/png; q=1']), ['image preview']],
    [asset('video/mp4', ['poster image/png', 'subtitles text/vtt']), ['video original', 'image poster']],
    [
      asset('video/quicktime', ['preview video/mp4', 'poster image/png']),
      ['video preview', 'video original', 'image poster'],
    ],
    [asset('video/mp4', ['hls application/vnd.apple.mpegurl']), ['video original']],
    [
      asset('application/mxf', ['preview video/mp4', 'thumbnail image/png']),
      ['video preview', 'image thumbnail'],
    ],
    [asset('audio/mpeg', ['poster image/png']), ['audio original', 'image poster']],
    [asset('application/pdf', ['preview image/png']), ['document original', 'image preview']],
    [asset('application/zip'), []],
    [asset('text/html'), []],
  ];
  for (const [shared, expected] of cases) {
    const found = candidatesOf(shared, abilities).map(({ viewer, file }) => `${viewer} ${file.kind}`);
    t.deepEqual(found, expected, `${shared.media_type} ${shared.size}`);
  }
});

test('A phone shows the image of a document, and a browser with HLS plays the stream before the original', (t) => {
  const kindsFor = (shared: SharedFile, changes: Partial<Abilities>): readonly string[] =>
    candidatesOf(shared, { ...abilities, ...changes }).map(({ file }) => file.kind);
  const pdf = asset('application/pdf', ['preview image/png']);
  t.deepEqual(kindsFor(pdf, { showsDocuments: false }), ['preview']);
  const film = asset('video/mp4', ['hls application/vnd.apple.mpegurl']);
  t.deepEqual(kindsFor(film, { canPlay: () => 'maybe' }), ['hls', 'original']);
});

test('A document that the page cannot show opens in a tab, and a text does so in every browser', (t) => {
  const document = (media_type: string): SharedFile => {
    const { media, ...file } = asset(media_type);
    return { ...file, media: media.map((one) => ({ ...one, inline_url: 'https://bucket.example/shown' })) };
  };
  const opens = (shared: SharedFile, showsDocuments: boolean, opensDocuments: boolean): boolean =>
    apartUrlOf(shared, { ...abilities, showsDocuments, opensDocuments }) !== null;
  const [pdf, text] = [document('application/pdf'), document('text/plain; charset=utf-8')];
  t.deepEqual(
    [opens(pdf, true, true), opens(pdf, false, true), opens(pdf, false, false)],
    [false, true, false],
  );
  t.deepEqual(
    [opens(text, true, true), opens(text, false, true), opens(text, false, false)],
    [false, true, true],
  );
  t.false(opens(asset('text/plain'), false, true));
});

test('A tile takes the thumbnail, a player the poster, and neither loads a large original', (t) => {
  const film = asset('video/mp4', ['thumbnail image/png', 'poster image/jpeg']);
  t.is(stillOf(film, 'thumbnail')?.kind, 'thumbnail');
  t.is(stillOf(film, 'poster')?.kind, 'poster');
  t.is(stillOf(asset('image/png'), 'thumbnail')?.kind, 'original');
  t.is(stillOf(asset('image/png', [], 9_000_000), 'thumbnail'), null);
  t.is(stillOf(asset('image/heic'), 'thumbnail'), null);
});

test('Every accent colour can be read on the light and the dark page, and carries readable text', (t) => {
  const rgb = (hex: string) =>
    [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
  for (const color of [
    '#000000',
    '#ffffff',
    '#ffff00',
    '#e4572e',
    '#1f4fbf',
    '#777777',
    '#00ff00',
    '#0A7F5A',
  ]) {
    const accents = accentsOf(color);
    t.truthy(accents, color);
    if (accents === null) continue;
    for (const [accent, grounds] of [
      [accents.light, ['#ffffff', '#eef1f6', '#f6f8fb']],
      [accents.dark, ['#12161c', '#1b212a', '#212833']],
    ] as const) {
      for (const ground of grounds)
        t.true(contrastOf(rgb(accent.main), rgb(ground)) >= 4.5, `${color} on ${ground}`);
      t.true(contrastOf(rgb(accent.main), rgb(accent.text)) >= 4.5, `${color} under ${accent.text}`);
    }
  }
  t.is(accentsOf('#1f4fbf')?.light.main, '#1f4fbf');
  t.is(accentsOf('red'), null);
});

test('Kinds, sizes, counts and times are in the language, region and zone of the visitor', (t) => {
  const share = {
    name: 'Rhine',
    expires_at: '2026-11-23T04:04:00.000Z',
    remaining_uses: 1,
    allow_download: true,
    sender: 'Ada',
  };
  const told = (
    tag: string,
    language: string,
    [wanted, zone]: readonly [string, string],
    now: string,
  ): string => {
    const told = words[language];
    if (told === undefined) throw new Error(`no texts in ${language}`);
    const facts = describeShare(
      { share, files: [asset('video/mp4', [], 1_234_567)] },
      told,
      makeShareFormats(tag, [wanted], zone),
      new Date(now),
    );
    return facts.join(' · ').replaceAll(/[\u00a0\u202f]/g, ' ');
  };
  t.is(
    told('en', 'en', ['en-GB', 'Europe/London'], '2026-11-19T23:00:00.000Z'),
    'From Ada · Video (MP4) · 1.2 MB · Available until Monday · This link can be opened 1 more time',
  );
  t.is(
    told('de', 'de', ['de-DE', 'Europe/Berlin'], '2026-11-01T00:00:00.000Z'),
    'Von Ada · Video (MP4) · 1,2 MB · Verfügbar bis 23. November · Dieser Link lässt sich noch 1 Mal öffnen',
  );
  t.regex(
    told('zh-Hans', 'zh', ['zh-CN', 'Asia/Shanghai'], '2026-11-17T00:00:00.000Z'),
    /^来自 Ada · 视频 \(MP4\) · 1\.2 MB · 有效期至 星期一 · 此链接还可以打开 1 次$/,
  );
});

test('A language of the browser that is no tag of BCP 47 leaves the formats to the language of the page', (t) => {
  // Chromium has this one on a machine with the locale POSIX.
  const { size } = makeShareFormats('en', ['en-US@posix', 'en-GB'], 'UTC');
  t.is(size(150_000_000), '150 MB');
  t.is(makeShareFormats('de', ['de-DE@euro'], 'UTC').size(1_500_000), '1,5 MB');
});

test('An end is said as people say it: today and tomorrow with the time, then a day of the week, then a date', (t) => {
  const rows = [
    ['2026-11-23T00:30:00Z', 'today, 04:04'],
    // It is still the evening before in New York.
    ['2026-11-23T00:30:00Z', 'today, 11:04 PM', 'America/New_York', 'en-US'],
    ['2026-11-22T12:00:00Z', 'tomorrow, 04:04'],
    ['2026-11-21T23:59:00Z', 'Monday'],
    ['2026-11-17T00:00:00Z', 'Monday'],
    ['2026-11-16T23:59:00Z', '23 November'],
    ['2025-12-31T00:00:00Z', '23 November 2026'],
    ['2026-11-24T00:00:00Z', '23 November'],
  ] as const;
  for (const [now, said, zone = 'Europe/London', locale = 'en-GB'] of rows) {
    const told = makeShareFormats('en', [locale], zone).end(new Date('2026-11-23T04:04:00Z'), new Date(now));
    t.is(told.replaceAll(/[\u00a0\u202f]/g, ' '), said, now);
  }
});

test('Known formats have their usual name, and unknown types are files', (t) => {
  const { en } = words;
  if (en === undefined) throw new Error('no English');
  const cases = {
    'image/jpeg': 'Image (JPEG)',
    'image/heic': 'Image (HEIC)',
    'audio/mpeg': 'Audio (MP3)',
    'application/pdf': 'PDF document',
    'application/zip': 'Archive (ZIP)',
    'text/plain; charset=utf-8': 'Text',
    'application/octet-stream': 'File',
    'application/vnd.example.very-own+json': 'File',
  };
  for (const [type, text] of Object.entries(cases)) t.is(describeKind(type, en), text);
});

test('Sizes round to the unit that people read', (t) => {
  const { size, clock } = makeShareFormats('en', [], 'UTC');
  t.deepEqual([0, 1, 999, 1_000, 999_499, 999_500, 150_000_000, 5e12].map(size), [
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1 kB',
    '999 kB',
    '1 MB',
    '150 MB',
    '5 TB',
  ]);
  t.deepEqual([5, 65, 3_600].map(clock), ['0:05', '1:05', '60:00']);
});

test('The tab keeps the session without any URL, and works without a storage', (t) => {
  const entries = new Map<string, string>();
  const storage = {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
    removeItem: (key: string) => void entries.delete(key),
  };
  const share = { name: 'Rhine', expires_at: null, remaining_uses: 0, allow_download: true };
  const opening = { project: null, session: 'a session', share, files: [asset('image/png')] };
  const kept = makeKeptSession(() => storage, 'a token');
  t.is(kept.read(), null);
  kept.keep(opening);
  t.false([...entries.values()].join('').includes('http'));
  t.is(makeKeptSession(() => storage, 'another token').read(), null);
  // When the service renews the URLs, the opening is whole again
  const back = kept.read();
  t.is(back?.session, 'a session');
  const media = opening.files[0]?.media ?? [];
  t.deepEqual(back && renewedOpening(back, { media, assets: [{ id: 'a', media }] }), opening);
  kept.forget();
  t.is(kept.read(), null);
  // The visitor has opened the share before
  t.is(kept.visitor(), 'a session');
  const refused = makeKeptSession(() => {
    throw new Error('the browser keeps nothing');
  }, 'a token');
  t.notThrows(() => {
    refused.keep(opening);
    refused.forget();
  });
  t.is(refused.read(), null);
  t.is(refused.visitor(), null);
});

test('SubRip becomes WebVTT, and WebVTT stays', (t) => {
  t.is(
    webVttOf('\uFEFF1\r\n00:00:01,500 --> 00:00:02,000\r\nOne, two\r\n'),
    'WEBVTT\n\n1\n00:00:01.500 --> 00:00:02.000\nOne, two\n',
  );
  t.is(webVttOf('WEBVTT\n\n00:01.000 --> 00:02.000\nOne\n'), 'WEBVTT\n\n00:01.000 --> 00:02.000\nOne\n');
});
