import test from 'ava';
import { type PlaylistReference, readPlaylist } from '../../../../src/areas/assets/domain/playlist.js';

/** Reads a playlist and writes each reference as `<kind:key>`. */
function read(lines: readonly string[] | Buffer, key = 'film/720/index.m3u8'): string {
  return readAll(lines, key).text;
}

function readAll(lines: readonly string[] | Buffer, key: string) {
  const bytes = Buffer.isBuffer(lines) ? lines : Buffer.from(lines.join('\n'));
  const steps = [...readPlaylist(bytes, key)];
  const text = steps.flatMap(({ parts }) => parts.map(written)).join('');
  return { text, isEnded: steps.some(({ isEnding }) => isEnding) };
}

function written(part: string | PlaylistReference): string {
  return typeof part === 'string' ? part : `<${part.kind}:${part.key}>`;
}

test('A media playlist names the objects of its folder, and keeps the lines that the service knows', (t) => {
  const playlist = read([
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '# made by a tool',
    '#EXT-X-KEY:METHOD=AES-128,URI="keys/1.key",IV=0x01',
    '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://a-key",KEYFORMAT="com.apple.streamingkeydelivery"',
    '#EXT-X-MAP:URI="init%20a.mp4",BYTERANGE="720@0"',
    '#EXTINF:6.0,Title, with URI=x',
    '#EXT-X-BYTERANGE:75232@0',
    'a/./%E6%B2%B3.ts?x=1#y',
    '#EXT-X-RENDITION-REPORT:URI="../480/index.m3u8",LAST-MSN=1',
    '#EXT-X-DATERANGE:ID="ad",X-ASSET-URI="https://ads.example.org/a"',
    '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES',
    '#EXT-X-ENDLIST',
  ]);
  t.deepEqual(playlist.trimEnd().split('\n'), [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-KEY:METHOD=AES-128,URI="<object:film/720/keys/1.key>",IV=0x01',
    '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://a-key",KEYFORMAT="com.apple.streamingkeydelivery"',
    '#EXT-X-MAP:URI="<object:film/720/init a.mp4>",BYTERANGE="720@0"',
    '#EXTINF:6.0,Title, with URI=x',
    '#EXT-X-BYTERANGE:75232@0',
    '<object:film/720/a/河.ts>',
    '#EXT-X-DATERANGE:ID="ad"',
    '#EXT-X-ENDLIST',
  ]);
});

test('Blanks, and dots that stay in the folder, lead to the same files', (t) => {
  const lines = [
    '#EXTM3U',
    '   ',
    '#EXTINF:6,',
    '  a.ts\t ',
    '#EXTINF:6,',
    'b/../c/./%2e%2e/a%20b.ts',
    ' # made',
  ];
  t.is(
    read([...lines, '#EXT-X-MAP:URI=" x/../init.mp4 "']),
    '#EXTM3U\n#EXTINF:6,\n<object:film/720/a.ts>\n#EXTINF:6,\n<object:film/720/a b.ts>\n#EXT-X-MAP:URI="<object:film/720/init.mp4>"\n',
  );
});

test('A master playlist names the playlists of its streams, with Windows line ends too', (t) => {
  const lines = [
    '#EXTM3U',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="de",URI="audio/de.m3u8"',
    '#EXT-X-STREAM-INF:BANDWIDTH=1280000,AUDIO="a"',
    '720/index.m3u8',
    '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,URI="720/iframe.m3u8"',
  ];
  const playlist = readAll(Buffer.from(lines.join('\r\n')), 'master.m3u8');
  t.true(playlist.isEnded);
  t.deepEqual(playlist.text.trimEnd().split('\n'), [
    '#EXTM3U',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="de",URI="<playlist:audio/de.m3u8>"',
    '#EXT-X-STREAM-INF:BANDWIDTH=1280000,AUDIO="a"',
    '<playlist:720/index.m3u8>',
    '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,URI="<playlist:720/iframe.m3u8>"',
  ]);
  t.false(readAll(['#EXTM3U', '#EXTINF:6,', 'a.ts', ''], 'a.m3u8').isEnded);
});

test('A reference that leaves the folder is refused with its line', (t) => {
  for (const uri of [
    ...[
      '../a.ts',
      'a/../../b.ts',
      '%2e%2e/a.ts',
      'a/%2E./../b.ts',
      '..',
      'a/..',
      'a/../..',
      'a%2f..%2fb.ts',
      'a%2Fb.ts',
      '..\\a.ts',
    ],
    ...['/a.ts', '//evil.example.org/a.ts', '\\\\evil.example.org\\a.ts', 'https://evil.example.org/a.ts'],
    ...['HTTP://evil.example.org/a.ts', 'file:///etc/passwd', 'javascript:alert(1)', 'data:,a', '%zz.ts'],
    ...['?a', '#'.padStart(2, '?'), 'a/', 'a%00.ts', '.'],
  ]) {
    t.throws(() => read(['#EXTM3U', '#EXTINF:6,', uri]), { message: /^line 3 of the playlist / }, uri);
    t.throws(
      () => read(['#EXTM3U', `#EXT-X-MAP:URI="${uri}"`]),
      { message: /^line 2 of the playlist / },
      uri,
    );
  }
  t.throws(() => read(['#EXTM3U', '#EXT-X-KEY:METHOD=AES-128,URI="https://keys.example.org/1"']), {
    message: /^line 2 .* absolute URL/,
  });
});

test('A file that is no playlist, a variable and too many references are refused', (t) => {
  t.throws(() => read(['<html>']), { message: /line 1 .*EXTM3U/ });
  t.throws(() => read(['\uFEFF#EXTM3U']), { message: /line 1 .*EXTM3U/ });
  t.throws(() => read(Buffer.from([0x23, 0xff])), { message: /line 1 .*UTF-8/ });
  t.throws(() => read(Buffer.from('#EXTM3U\n#EXTINF:4,\xe9\n', 'latin1')), { message: /line 2 .*UTF-8/ });
  for (const empty of ['', '\n', ' #EXTM3U'])
    t.throws(() => read([empty]), { message: /line 1 .*EXTM3U/ }, empty);
  t.throws(() => read(['#EXTM3U', '#EXT-X-DEFINE:NAME="a",VALUE="../b"']), { message: /line 2 .*variable/ });
  const segments = (count: number) => [
    '#EXTM3U',
    ...Array.from({ length: count }, (_, index) => `${index}.ts`),
  ];
  t.notThrows(() => read(segments(10_000)));
  t.throws(() => read(segments(10_001)), { message: /line 10002 .* 10000 references/ });
});

test('A reference that only some players read as one is refused', (t) => {
  const evil = 'https://evil.example.org/a.mp4';
  t.throws(() => read(['#EXTM3U', `#EXTINF:4,\r${evil}`, 'a.ts']), { message: /line 3 .*absolute URL/ });
  for (const attributes of [
    ...[`URI=${evil}`, `URI="a.mp4",URI="${evil}"`, 'URI="a.mp4', `URI ="${evil}"`, `URI= "${evil}"`],
    ...[
      `URI="a.mp4"URI="${evil}"`,
      `BYTERANGE="1@URI=${evil}",URI="a.mp4"`,
      `,URI="${evil}"`,
      `'URI="${evil}"`,
    ],
  ]) {
    t.throws(() => read(['#EXTM3U', `#EXT-X-MAP:${attributes}`]), { message: /^line 2 / }, attributes);
  }
  t.throws(() => read(['#EXTM3U', `#EXT-X-KEY:METHOD=AES-128,URI="skd://a",URI="${evil}"`]), {
    message: /line 2 .*has URI twice/,
  });
  t.is(read(['#EXTM3U', `#EXT-X-OTHER:URI=${evil}`, 'a.ts']), '#EXTM3U\n<object:film/720/a.ts>\n');
});

test('Tags and attributes that the service does not know are left out', (t) => {
  const evil = 'https://evil.example.org/a';
  const lines = [
    `#EXT-X-MAP:X-URI="${evil}",URI="a.mp4",X-B="${evil}"`,
    `#EXT-X-DATERANGE:ID="ad",X-ASSET-LIST="${evil}",START-DATE="2026-11-23T03:00:00Z"`,
    `#EXT-X-PREFETCH:${evil}`,
    `#EXT-X-CONTENT-STEERING:SERVER-URI="${evil}"`,
    `#EXT-X-VERSION:${evil}`,
    `#EXT-X-STREAM-INF: BANDWIDTH=1 , CODECS="avc1,mp4a" ,X-NAME="${evil}"`,
    'b/index.m3u8',
  ];
  t.deepEqual(
    read(['#EXTM3U', ...lines])
      .trimEnd()
      .split('\n'),
    [
      '#EXTM3U',
      '#EXT-X-MAP:URI="<object:film/720/a.mp4>"',
      '#EXT-X-DATERANGE:ID="ad",START-DATE="2026-11-23T03:00:00Z"',
      '#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1,mp4a"',
      '<playlist:film/720/b/index.m3u8>',
    ],
  );
});

test('A playlist with low latency is served by its whole segments, and a gap stays a gap', (t) => {
  const lines = [
    '#EXT-X-PART-INF:PART-TARGET=1',
    '#EXT-X-SKIP:SKIPPED-SEGMENTS=3',
    '#EXT-X-ALLOW-CACHE:NO',
    '#EXT-X-BITRATE:800',
    '#EXT-X-PART:DURATION=1,URI="1.0.m4s"',
    '#EXTINF:2,',
    '1.m4s',
    '#EXT-X-GAP',
    '#EXTINF:2,',
    '2.m4s',
    '#EXT-X-PART:DURATION=1,URI="https://evil.example.org/3.0.m4s"',
    '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="3.1.m4s"',
  ];
  t.is(
    read(['#EXTM3U', ...lines]),
    '#EXTM3U\n#EXTINF:2,\n<object:film/720/1.m4s>\n#EXT-X-GAP\n#EXTINF:2,\n<object:film/720/2.m4s>\n',
  );
});

test('Blanks around lines do not count', (t) => {
  t.is(
    read(['#EXTM3U', '  ', '\t#EXTINF:4, a title  ', '  a b.ts ', '']),
    '#EXTM3U\n#EXTINF:4, a title\n<object:film/720/a b.ts>\n',
  );
});

test('A line that is too long, and too many lines, are refused before the first one is read', (t) => {
  const bad = '../a.ts';
  for (const line of [
    'A'.repeat(2 ** 20),
    `#EXTINF:${'A'.repeat(2 ** 20)}`,
    `#EXT-X-MAP:${'URI='.repeat(2 ** 18)}`,
  ]) {
    t.throws(() => read(['#EXTM3U', bad, line]), {
      message: /^line 3 of the playlist has more than 16384 bytes/,
    });
  }
  t.notThrows(() => read(['#EXTM3U', `#EXTINF:4,${'A'.repeat(16_374)}`]));
  for (const end of ['\n', '\r', '\r\n']) {
    const lines = (count: number) =>
      Buffer.from(['#EXTM3U', bad, ...Array<string>(count - 2).fill('')].join(end));
    t.throws(() => read(lines(50_001)), { message: /^line 50001 of the playlist is beyond 50000 lines/ });
    t.throws(() => read(lines(50_000)), { message: /^line 2 of the playlist leaves the folder/ });
  }
});
