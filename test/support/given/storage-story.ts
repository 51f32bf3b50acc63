import { createHash, randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { openedShareReply } from '../clients/read-replies.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { OutgoingHttp } from '../../../src/outgoing/outgoing-http.js';
import { textOf } from '../clients/service-client.js';
import type { StorageProject } from './storage-project.js';

interface StoryScene {
  readonly project: StorageProject;
  /** The storage to bind, with its credentials. Its `base_path` is `videos`. */
  readonly binding: JsonObject;
  /** The beginning of upload and media URLs, up to the base path. */
  readonly begin: string;
  /** The browser of a person who uploads and of a visitor. A reply has at most 64 KiB. */
  readonly browser: OutgoingHttp;
  /** Whether the bucket has CORS rules. */
  readonly hasCorsRules: boolean;
  /** The warnings of the test; that of the missing CORS rule when left out. */
  readonly warnings?: readonly string[];
  /** Whether the server refuses wrong signatures; true when left out. */
  readonly judgesSignatures?: boolean;
}

const fileBytes = 300_000;
const partBytes = 65_536;

/**
 * Tells the story of a storage from its binding to the end of a share: bind, test, set the CORS rule, upload, confirm,
 * share, open, play by range, revoke. Every request to the bucket is signed by the service and judged by the server.
 */
export async function tellStorageStory(t: ExecutionContext, scene: StoryScene): Promise<void> {
  const { project, binding, begin, browser, judgesSignatures = true } = scene;
  const { warnings = ['cors_missing'] } = scene;
  const { path, send, until, get } = project;
  const call = async (expected: number, method: string, to: string, body?: JsonObject) => {
    const reply = await send(method, to, body);
    t.is(reply.status, expected, `${method} ${to}: ${reply.text}`);
    return reply;
  };

  // Given a storage that passes its test
  const at = await project.bind(binding);
  await call(202, 'POST', `${at}/test`);
  const active = await until(at, 'active', ({ is_default: isDefault }) => isDefault === true);
  t.deepEqual(codesOf(active), warnings);
  if (scene.hasCorsRules) {
    t.deepEqual(codesOf((await call(200, 'POST', `${at}/cors`, {})).json()), []);
  } else {
    const refused = await call(409, 'POST', `${at}/cors`, {});
    t.regex(textOf(refused.json(), 'message'), /^cors_unsupported: /);
    t.deepEqual(codesOf((await get(at)).json()), warnings);
  }

  // And an asset whose file is not uploaded yet, with a share
  const file = randomBytes(fileBytes);
  const added = await call(201, 'POST', `${path}/assets`, {
    ...{ name: 'Rhine (dawn)', object_key: "2026/a b+ü'(1).mp4", media_type: 'video/mp4', size: fileBytes },
  });
  const asset = `${path}/assets/${textOf(added.json(), 'id')}`;
  const share = (
    await call(201, 'POST', `${path}/shares`, {
      ...{ asset_id: textOf(added.json(), 'id'), password: 'open sesame', max_uses: 5 },
    })
  ).json();
  const verify = `/api/v1/shares/${textOf(share, 'token')}/verify`;
  const opening = { password: 'open sesame' };
  await call(404, 'POST', verify, opening);

  // When the file is uploaded, only as the URL says
  const upload = (await call(200, 'POST', `${asset}/upload-url`, {})).json() as {
    readonly url: string;
    readonly headers: Record<string, string>;
  };
  t.true(upload.url.startsWith(`${begin}videos/2026/a%20b`), upload.url);
  const put = { method: 'PUT', url: upload.url, headers: upload.headers } as const;
  if (judgesSignatures) t.is((await browser({ ...put, body: file.subarray(1) })).status, 403, 'another size');
  t.like((await call(200, 'POST', `${asset}/uploaded`, {})).json(), { upload: 'pending' });
  t.is((await browser({ ...put, body: file })).status, 200);
  t.like((await call(200, 'POST', `${asset}/uploaded`, {})).json(), {
    ...{ upload: 'complete', object: { size: fileBytes } },
  });

  // Then a visitor opens the share and plays the file by ranges
  const { data: opened } = openedShareReply.parse((await call(200, 'POST', verify, opening)).json());
  const url = opened.media[0]?.url ?? '';
  t.true(url.startsWith(`${begin}videos/2026/a%20b`), url);
  const played = createHash('sha256');
  for (let from = 0; from < fileBytes; from += partBytes) {
    const to = Math.min(from + partBytes, fileBytes) - 1;
    const part = await browser({ method: 'GET', url, headers: { range: `bytes=${from}-${to}` } });
    t.is(part.status, 206);
    t.is(part.headers['content-type'], 'video/mp4');
    played.update(part.body);
  }
  t.is(played.digest('hex'), createHash('sha256').update(file).digest('hex'));
  if (judgesSignatures) {
    t.is((await browser({ method: 'GET', url: url.replace('.mp4', '.mp5') })).status, 403);
    t.is((await browser({ method: 'GET', url: `${url}&response-content-encoding=x` })).status, 403);
    t.is((await browser({ method: 'DELETE', url })).status, 403);
  }

  // Until the share is revoked
  await call(204, 'DELETE', `${path}/shares/${textOf(share, 'id')}`);
  await call(404, 'POST', verify, opening);
  await call(401, 'POST', verify.replace(/verify$/, 'media'), { share_session: opened.share_session });
}

function codesOf(storage: JsonObject): readonly string[] {
  return (storage['warnings'] as readonly JsonObject[]).map((warning) => textOf(warning, 'code'));
}

const names = [
  ...['plain', 'with space', 'a+b', '100%', '%41', 'é', 'e\u0301', '日本', '😀', '<tag>&amp;', `quo"te's`],
  ...['semi;colon', 'a=b&c', '#hash?', 'tilde~', '(paren)', 'comma,', 'dot.', '.hidden', 'UPPER'],
];

/**
 * Imports a bucket with many keys of odd names, page by page and in the order of the server. Each object becomes an asset of
 * exactly its key, and a second import adds nothing.
 */
export async function tellImportStory(
  t: ExecutionContext,
  scene: {
    readonly project: StorageProject;
    /** Stores an object below the base path, without the service. */
    readonly put: (key: string, body: Buffer) => Promise<void>;
    readonly count: number;
  },
): Promise<void> {
  const { project, put, count } = scene;
  const { items } = (await project.get(`${project.path}/storages`)).json() as { items: { id: string }[] };
  const keys = Array.from({ length: count }, (_, n) => `import/${names[n % names.length] ?? ''}/${n}.jpg`);
  const waiting = [...keys];
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) await put(key, Buffer.from(key));
    }),
  );
  const importAll = async (): Promise<{ added: JsonObject[]; skipped: JsonObject[] }> => {
    const [added, skipped]: [JsonObject[], JsonObject[]] = [[], []];
    let cursor: string | null = null;
    do {
      const reply = await project.send('POST', `${project.path}/assets/import`, {
        ...{ storage_id: textOf(items[0] ?? {}, 'id'), prefix: 'import/', limit: 200 },
        ...(cursor === null ? {} : { cursor }),
      });
      t.is(reply.status, 200, reply.text);
      const page = reply.json();
      added.push(...(page['added'] as JsonObject[]));
      skipped.push(...(page['skipped'] as JsonObject[]));
      cursor = page['next_cursor'] as string | null;
    } while (cursor !== null);
    return { added, skipped };
  };
  const keyOf = (one: JsonObject) => one['object_key'] as string;

  const { added, skipped } = await importAll();
  t.deepEqual(
    skipped.filter(({ reason }) => reason !== 'not_a_file'),
    [],
  );
  t.deepEqual(added.map(keyOf).toSorted(), keys.toSorted());
  const wrong = added.filter(
    (one) => one['upload'] !== 'complete' || one['size'] !== Buffer.byteLength(keyOf(one)),
  );
  t.deepEqual(wrong, []);
  const again = await importAll();
  t.is(again.added.length, 0);
  t.is(again.skipped.filter(({ reason }) => reason === 'already_an_asset').length, count);
}
