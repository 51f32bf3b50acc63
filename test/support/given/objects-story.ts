import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { OutgoingHttp } from '../../../src/outgoing/outgoing-http.js';
import { mediaLinksReply, uploadUrlReply } from '../clients/read-replies.js';
import { textOf } from '../clients/service-client.js';
import { eventually } from '../eventually.js';
import type { StorageProject } from './storage-project.js';

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
