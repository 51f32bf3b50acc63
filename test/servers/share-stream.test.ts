/* Tests that Chromium, controlled by WebDriver, follows an HLS stream of a private bucket on the page of shares. */
import { createServer, request as httpRequest } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../support/eventually.js';
import { givenFakeStorage } from '../support/fakes/fake-storage.js';
import { addAsset, givenAsset, givenShare, sharePassword } from '../support/given/given-share.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { givenBrowser, browserSuite } from '../support/clients/browser.js';
import { listen } from '../support/servers/loopback.js';

/** Makes silent AAC (ADTS, ISO 14496-3) of one channel at 44.1 kHz, with the time stamp of RFC 8216, section 3.4. */
function makeAac(frames: number): Buffer {
  const silence = Buffer.from([0x00, 0xc8, 0x00, 0x80, 0x23, 0x80]);
  const length = silence.length + 7;
  const header = Buffer.from([0xff, 0xf1, 0x50, 0x40, length >> 3, ((length & 7) << 5) | 0x1f, 0xfc]);
  const owner = Buffer.from('com.apple.streaming.transportStreamTimestamp\0');
  const frame = Buffer.concat([owner, Buffer.alloc(8)]);
  const id3 = Buffer.concat([
    Buffer.from([...Buffer.from('ID3'), 4, 0, 0, 0, 0, 0, frame.length + 10]),
    Buffer.concat([Buffer.from('PRIV'), Buffer.from([0, 0, 0, frame.length, 0, 0]), frame]),
  ]);
  return Buffer.concat([id3, ...Array.from({ length: frames }, () => Buffer.concat([header, silence]))]);
}

/** Starts a proxy, because the service must know the port of its public URL before it has one. */
async function givenFront(t: ExecutionContext) {
  const front = { url: '', target: '' };
  const server = createServer((request, response) => {
    const { method = 'GET', headers, url = '' } = request;
    const passed = httpRequest(`${front.target}${url}`, { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  front.url = `http://127.0.0.1:${await listen(t, server)}`;
  return front;
}

browserSuite(test, 'A stream in a browser', () => {
  test('The player of the browser follows the playlist of a share to its segment in the bucket', async (t) => {
    // Given a shared sound with a stream
    const storage = await givenFakeStorage(t);
    const front = await givenFront(t);
    const service = await givenInProcess(t, {
      environment: { STORAGE_ALLOWED_CIDRS: '127.0.0.0/8', PUBLIC_URL: front.url },
    });
    front.target = service.url;
    const endpoint = `http://127.0.0.1:${storage.port}`;
    const place = await givenAsset(service.services, { endpoint });
    const files: Readonly<Record<string, string | Buffer>> = {
      'sound.bin': 'no sound',
      'stream/index.m3u8':
        '#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:11\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:9.98,\n1.aac\n#EXT-X-ENDLIST\n',
      'stream/1.aac': makeAac(430),
    };
    for (const [key, body] of Object.entries(files)) {
      await fetch(`${endpoint}/rushes/${key}`, { method: 'PUT', body: new Uint8Array(Buffer.from(body)) });
    }
    const assetId = await addAsset(service.services, place, {
      ...{ name: 'Rhine', object_key: 'sound.bin', media_type: 'audio/x-unknown', size: 8 },
      renditions: [
        {
          kind: 'hls',
          object_key: 'stream/index.m3u8',
          media_type: 'application/vnd.apple.mpegurl',
          size: 100,
        },
      ],
    });
    const { token } = await givenShare(service.services, { ...place, assetId });
    const browser = await givenBrowser(t);
    await browser.open(`${front.url}/s/${token}`);
    const ability = await browser.run(
      `return document.createElement('audio').canPlayType('application/vnd.apple.mpegurl')`,
    );
    t.not(ability, '', 'this Chromium plays no streams by itself');

    // When the visitor opens it, then the player reads the playlist of the service and the segment of the bucket
    await browser.type('#password', `${sharePassword}\uE007`);
    const segment = 'GET /rushes/stream/1.aac';
    await eventually('the player reads the segment', () => storage.requests.includes(segment));
    t.deepEqual(storage.requests.filter((request) => request.startsWith('GET')).slice(0, 2), [
      'GET /rushes/stream/index.m3u8',
      segment,
    ]);
    // And the policy of the page allows both
    t.deepEqual(await browser.complaints(), []);
  });
});
