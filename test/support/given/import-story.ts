import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { textOf } from '../clients/service-client.js';
import type { StorageProject } from './storage-project.js';

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
