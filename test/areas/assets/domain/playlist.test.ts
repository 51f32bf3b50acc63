import test from 'ava';
import { type Playlist, readPlaylist } from '../../../../src/areas/assets/domain/playlist.js';

/** Reads a playlist and writes each reference as `<kind:key>`. */
function read(lines: readonly string[], key = 'film/720/index.m3u8'): string {
  return written(readPlaylist(Buffer.from(lines.join('\n')), key));
}

function written({ parts }: Playlist): string {
  return parts.map((part) => (typeof part === 'string' ? part : `<${part.kind}:${part.key}>`)).join('');
}

test('A media playlist names the objects of its folder, and keeps every other line', (t) => {
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
    '#EXT-X-ENDLIST',
  ]);
});

test('A master playlist names the playlists of its streams, with Windows line ends too', (t) => {
  const lines = [
    '#EXTM3U',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="de",URI="audio/de.m3u8"',
    '#EXT-X-STREAM-INF:BANDWIDTH=1280000,AUDIO="a"',
    '720/index.m3u8',
    '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,URI="720/iframe.m3u8"',
  ];
  const playlist = readPlaylist(Buffer.from(lines.join('\r\n')), 'master.m3u8');
  t.true(playlist.isEnded);
  t.deepEqual(written(playlist).trimEnd().split('\n'), [
    '#EXTM3U',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="de",URI="<playlist:audio/de.m3u8>"',
    '#EXT-X-STREAM-INF:BANDWIDTH=1280000,AUDIO="a"',
    '<playlist:720/index.m3u8>',
    '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,URI="<playlist:720/iframe.m3u8>"',
  ]);
  t.false(readPlaylist(Buffer.from('#EXTM3U\n#EXTINF:6,\na.ts\n'), 'a.m3u8').isEnded);
});

test('A reference that leaves the folder is refused with its line', (t) => {
  for (const uri of [
    ...[
      '../a.ts',
      'a/../../b.ts',
      '%2e%2e/a.ts',
      'a/%2E./b.ts',
      '..',
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
  t.throws(() => readPlaylist(Buffer.from([0x23, 0xff]), 'a'), { message: /line 1 .*UTF-8/ });
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
  for (const attributes of [`URI=${evil}`, `URI="a.mp4",URI="${evil}"`, `X-URI="a.mp4"`, 'URI="a.mp4']) {
    t.throws(() => read(['#EXTM3U', `#EXT-X-MAP:${attributes}`]), {
      message: /line 2 .*one URI in quotation/,
    });
  }
  t.throws(() => read(['#EXTM3U', `#EXT-X-KEY:METHOD=AES-128,URI="skd://a",URI="${evil}"`]), {
    message: /line 2 .*one URI/,
  });
  t.is(read(['#EXTM3U', `#EXT-X-OTHER:URI=${evil}`, 'a.ts']), '#EXTM3U\n<object:film/720/a.ts>\n');
});

test('A line that is as long as the largest playlist is refused before it is searched', (t) => {
  for (const line of [
    'A'.repeat(2 ** 20),
    `#EXTINF:${'A'.repeat(2 ** 20)}`,
    `#EXT-X-MAP:${'URI='.repeat(2 ** 18)}`,
  ]) {
    t.throws(() => read(['#EXTM3U', line]), {
      message: /^line 2 of the playlist has more than 16384 characters/,
    });
  }
  t.notThrows(() => read(['#EXTM3U', `#EXTINF:4,${'A'.repeat(16_000)}`]));
});
