import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { OutgoingHttp, OutgoingOptions } from '../../../src/outgoing/outgoing-http.js';
import {
  mediaLinksReply,
  uploadUrlReply,
  uploadPartsReply,
  type UploadPartsReply,
} from '../clients/read-replies.js';
import { textOf } from '../clients/service-client.js';
import { eventually } from '../eventually.js';
import type { StorageProject } from './storage-project.js';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';

const playlistType = 'application/vnd.apple.mpegurl';
const segment = "one ü+'(1).ts";
const filmKey = 'stream/film.mp4';
const segmentKey = `stream/720/${segment}`;
const files = {
  'stream/master.m3u8': '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1280000\n720/index.m3u8\n',
  'stream/720/index.m3u8': `#EXTM3U\n#EXTINF:6.0,\n${encodeURIComponent(segment)}\n#EXT-X-ENDLIST\n`,
  [segmentKey]: 'the first segment',
  [filmKey]: 'the whole film',
};

/** Returns the line of a playlist that names its first file. */
function lineOf(playlist: string): string {
  return playlist.split('\n')[2] ?? '';
}

function urlOfStream(media: readonly { readonly kind: string; readonly url: string }[]): string {
  return media.find(({ kind }) => kind === 'hls')?.url ?? '';
}

/**
 * Plays a stream from the default storage of the project, imports the files of the stream, and deletes one of them with its
 * asset. The server judges every signature: of lists, of reads and deletions by the service, and of segments.
 */
export async function tellObjectsStory(
  t: ExecutionContext,
  {
    project,
    browser,
    judgesSignatures = true,
    takesOverrides = true,
  }: {
    readonly project: StorageProject;
    readonly browser: OutgoingHttp;
    readonly judgesSignatures?: boolean;
    /** Whether the server takes type and name of a reply from the URL; true when left out. */
    readonly takesOverrides?: boolean;
  },
): Promise<void> {
  const { path, send, visit, get } = project;
  const call = async (method: string, to: string, body?: JsonObject): Promise<JsonObject> => {
    const reply = await send(method, to, body);
    t.true(reply.status < 300, `${method} ${to}: ${reply.text}`);
    return reply.text === '' ? {} : reply.json();
  };
  const add = async (object_key: string, content: string, more: JsonObject = {}) => {
    const facts = { name: 'A file', object_key, media_type: 'video/mp4', size: Buffer.byteLength(content) };
    const asset = await call('POST', `${path}/assets`, { ...facts, ...more });
    const at = `${path}/assets/${textOf(asset, 'id')}`;
    const upload = uploadUrlReply.parse(await call('POST', `${at}/upload-url`, {}));
    const body = Buffer.from(content);
    t.is((await browser({ method: 'PUT', url: upload.url, headers: upload.headers, body })).status, 200);
    return { at, storageId: textOf(asset, 'storage_id') };
  };

  // Given the files of a stream in the bucket, whose assets are removed without their objects
  for (const [key, content] of Object.entries(files)) {
    if (key !== filmKey) await call('DELETE', (await add(key, content)).at);
  }
  const film = await add(filmKey, files[filmKey], {
    renditions: [{ kind: 'hls', object_key: 'stream/master.m3u8', media_type: playlistType, size: 100 }],
  });

  // When a player follows the playlists, then the bucket serves the segment
  const { media } = mediaLinksReply.parse(await call('POST', `${film.at}/media`, {}));
  const follow = async (url: string): Promise<string> => {
    const reply = await visit(new URL(url).pathname);
    t.is(reply.status, 200, reply.text);
    return reply.text;
  };
  const url = lineOf(await follow(lineOf(await follow(urlOfStream(media)))));
  const played = await browser({ method: 'GET', url });
  t.is(played.status, 200, played.body.toString());
  t.is(played.body.toString(), files[segmentKey]);
  t.is(played.headers['content-type'], takesOverrides ? 'video/mp2t' : 'video/mp4');
  if (judgesSignatures) t.is((await browser({ method: 'GET', url: url.replace('one', 'two') })).status, 403);

  // When the folder is imported page by page, then each file without an asset gets one
  const added: JsonObject[] = [];
  const skipped: JsonObject[] = [];
  let cursor: string | null = null;
  do {
    const page: JsonObject = await call('POST', `${path}/assets/import`, {
      ...{ storage_id: film.storageId, prefix: 'stream/', limit: 1 },
      ...(cursor === null ? {} : { cursor }),
    });
    added.push(...(page['added'] as JsonObject[]));
    skipped.push(...(page['skipped'] as JsonObject[]));
    cursor = page['next_cursor'] as string | null;
  } while (cursor !== null);
  t.deepEqual(
    added.map((asset) => [asset['object_key'], asset['upload'], asset['size']]),
    [
      ['stream/720/index.m3u8', 'complete', files['stream/720/index.m3u8'].length],
      [segmentKey, 'complete', files[segmentKey].length],
    ],
  );
  t.deepEqual(
    skipped.map((one) => [one['object_key'], one['reason']]),
    ['stream/film.mp4', 'stream/master.m3u8'].map((key) => [key, 'already_an_asset']),
  );

  // When an imported asset is removed with its object, then the bucket has it no longer
  const imported = added.find((asset) => asset['object_key'] === segmentKey) ?? {};
  await call('DELETE', `${path}/assets/${textOf(imported, 'id')}?object=delete`);
  const undeleted = `${path}/storages/${film.storageId}/undeleted-objects`;
  await eventually(
    'the object is deleted',
    async () => (await get(undeleted)).text === '{"items":[],"next_cursor":null}',
  );
  // A server that judges no signatures may say that a stranger must not know.
  const gone = judgesSignatures ? [404] : [403, 404];
  t.true(gone.includes((await browser({ method: 'GET', url })).status));
}

/** 200 MB: 11 parts of 16 MiB, and a smaller one. */
const fileBytes = 200_000_000;

/**
 * Uploads a file of 200 MB in parts. The connection breaks in the middle of a part, and later the browser forgets all
 * that it knew. Each time the upload goes on with the parts that the bucket does not have.
 */
export async function tellPartsStory(
  t: ExecutionContext,
  scene: {
    readonly project: StorageProject;
    readonly browser: OutgoingHttp;
    /** How the connection that breaks finds the bucket. */
    readonly outgoing: OutgoingOptions;
  },
): Promise<void> {
  const { path, send } = scene.project;
  const call = async (method: string, to: string, body?: JsonObject): Promise<JsonObject> => {
    const reply = await send(method, to, body);
    t.true(reply.status === 200 || reply.status === 201, `${method} ${to}: ${reply.text}`);
    return reply.json();
  };
  const added = await call('POST', `${path}/assets`, {
    ...{ name: 'Rhine, all day', object_key: '2026/all day.mp4', media_type: 'video/mp4', size: fileBytes },
  });
  const asset = `${path}/assets/${textOf(added, 'id')}`;
  const open = async (): Promise<UploadPartsReply> =>
    uploadPartsReply.parse(await call('POST', `${asset}/uploads`, {}));
  let uploaded = 0;
  const put = async (parts: UploadPartsReply['parts'], count: number): Promise<void> => {
    for (const { part_number, size, url } of parts.slice(0, count)) {
      const headers = { 'content-length': String(size) };
      const body = contentOf(part_number, size);
      const { status } = await scene.browser({ method: 'PUT', url: url ?? '', headers, body });
      t.is(status, 200, `part ${part_number}`);
      uploaded += 1;
    }
  };
  const missing = ({ parts }: UploadPartsReply): UploadPartsReply['parts'] =>
    parts.filter(({ url }) => url !== null);

  // Given an upload whose connection breaks in the middle of a part
  const first = await open();
  t.is(first.part_count, Math.ceil(fileBytes / first.part_size));
  t.is(first.next_after, null);
  await put(first.parts, 4);
  const [broken] = first.parts.slice(4);
  await breakOff(broken?.url ?? '', contentOf(5, broken?.size ?? 0), scene.outgoing);

  // When the browser asks for the parts that are missing
  // versitygw lists the half of a part until it has seen the end of the connection.
  let second = first;
  await eventually('the broken part is missing', async () => {
    second = uploadPartsReply.parse(await call('GET', `${asset}/uploads/${first.id}`));
    return missing(second)[0]?.part_number === 5;
  });
  await put(missing(second), 3);

  // And a browser that knows nothing of the upload gets the same one
  const third = await open();
  t.is(third.id, first.id);
  t.deepEqual(missing(third)[0]?.part_number, 8);
  await put(missing(third), Infinity);
  t.is(uploaded, first.part_count, 'no part twice');

  // Then the object is whole
  const complete = await call('POST', `${asset}/uploads/${first.id}/complete`, {});
  t.like(complete, { upload: 'complete', object: { size: fileBytes } });
  const { media } = mediaLinksReply.parse(await call('POST', `${asset}/media`, {}));
  const url = media[0]?.url ?? '';
  for (const from of [0, first.part_size - 20, 4 * first.part_size + 5, fileBytes - 40]) {
    const part = await scene.browser({
      method: 'GET',
      url,
      headers: { range: `bytes=${from}-${from + 39}` },
    });
    t.is(part.status, 206);
    t.is(part.headers['content-range'], `bytes ${from}-${from + 39}/${fileBytes}`);
    t.deepEqual(part.body, bytesAt(from, 40, first.part_size));
  }
}

/** Returns the content of a part: each 16 bytes name the part and the place in it. */
function contentOf(partNumber: number, size: number): Buffer {
  const content = Buffer.alloc(Math.ceil(size / 16) * 16);
  for (let at = 0; at < content.length; at += 16) {
    content.writeUInt32BE(partNumber, at);
    content.writeUInt32BE(at, at + 4);
  }
  return content.subarray(0, size);
}

function bytesAt(from: number, length: number, partSize: number): Buffer {
  const bytes = Array.from({ length }, (_, index) => {
    const place = from + index;
    const inPart = place % partSize;
    return contentOf16(Math.floor(place / partSize) + 1, inPart - (inPart % 16))[inPart % 16] ?? 0;
  });
  return Buffer.from(bytes);
}

function contentOf16(partNumber: number, at: number): Buffer {
  const block = Buffer.alloc(16);
  block.writeUInt32BE(partNumber, 0);
  block.writeUInt32BE(at, 4);
  return block;
}

/** Sends the first half of a part, and then closes the connection. */
async function breakOff(url: string, body: Buffer, { lookup, ca }: OutgoingOptions): Promise<void> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  await new Promise<void>((resolve) => {
    const request = send(url, {
      method: 'PUT',
      headers: { 'content-length': String(body.length) },
      agent: false,
      ...(ca === undefined ? {} : { ca }),
      ...(lookup === undefined
        ? {}
        : {
            lookup: ((hostname, _options, callback) => {
              lookup(hostname, (error, addresses) => callback(error, [...addresses]));
            }) satisfies LookupFunction,
          }),
    });
    request.on('error', () => undefined);
    request.on('close', resolve);
    request.write(body.subarray(0, body.length / 2), () => request.destroy());
  });
}
