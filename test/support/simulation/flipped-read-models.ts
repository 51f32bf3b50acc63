import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { TestFn } from 'ava';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import type { DocumentWrite } from '../../../src/event-sourcing/ports/read-model-store.js';
import { openReader } from '../../../src/stores/embedded/files/database.js';
import { failureOf } from '../../../src/stores/embedded/files/failures.js';
import { readModelsFormat } from '../../../src/stores/embedded/files/formats.js';
import { makeReadModelQueries } from '../../../src/stores/embedded/documents/read-model-queries.js';
import { checkReadModels } from '../../../src/stores/embedded/documents/read-model-scrub.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { givenDirectory, openReadModels } from '../servers/embedded-directory.js';
import { putRecord, recordsCollection } from '../../../src/event-sourcing/ports/records.js';

const collection = 'assets@1.1';
const ids = Array.from({ length: 150 }, (_, n) => `asset-${String(n).padStart(3, '0')}`);

/** Reads all that the file holds, in each way that the service reads, and checks it as the service does. */
function readAll(path: string) {
  const connection = openReader(path);
  const where = { field: 'project_id', equals: 'project-1' } as const;
  const limit = 500;
  try {
    const queries = makeReadModelQueries(connection);
    const read = {
      collections: queries.collections(),
      each: ids.slice(0, 20).map((id) => queries.getMany(collection, [id])),
      many: queries.getMany(collection, ids),
      all: queries.find(collection, { limit }),
      some: queries.find(collection, { where, limit }),
      of: queries.find(collection, { where: { field: 'name', anyOf: ['a', `${ids[3]}.mp4`] }, limit }),
      selected: queries.ids(collection, { where, descending: true, limit }),
      ordered: queries.findInOrder(collection, { orderBy: 'name', limit }),
      last: queries.findInOrder(collection, { orderBy: 'name', descending: true, limit: 9 }),
      records: queries.scan(recordsCollection, { limit }),
    };
    return { ...read, slices: [...checkReadModels(connection)].length };
  } finally {
    connection.close();
  }
}

/** Declares the tests that flip so many bytes of the read models, and as many of their write-ahead log, drawn from the seed. */
export function testFlippedReadModels(test: TestFn, flips: number, seed = 20_261_122): void {
  for (const file of ['read-models.db', 'read-models.db-wal']) {
    test(`Each of ${flips} flipped bytes of ${file} is found by a read or by the check, or changes no reply`, async (t) => {
      // Given read models with documents, indexes and a record, which come in several commits
      const directory = givenDirectory(t);
      const { readModelStore, close } = await openReadModels(directory);
      let copies = 0;
      const truths: ReturnType<typeof readAll>[] = [];
      let whole: readonly (readonly [name: string, bytes: Buffer])[] = [];
      const isLog = file.endsWith('-wal');
      /**
       * Reads a copy. Each has a folder for itself: SQLite closes a connection when its statements are collected, and until then
       * the process shares the index of the write-ahead log among the connections to one file.
       */
      const readCopy = (changed?: Buffer): ReturnType<typeof readAll> => {
        const copy = join(directory, `copy-${(copies += 1)}`);
        mkdirSync(copy);
        try {
          for (const [name, bytes] of whole)
            writeFileSync(join(copy, name), name === file ? (changed ?? bytes) : bytes);
          return readAll(join(copy, 'read-models.db'));
        } finally {
          rmSync(copy, { recursive: true });
        }
      };
      const keep = (): void => {
        const names = isLog ? ['read-models.db', file] : [file];
        whole = names.map((name) => [name, readFileSync(join(directory, name))]);
        truths.push(readCopy());
      };
      const keepStep = (): void => {
        if (isLog) keep();
      };
      keepStep();
      for (const [name, indexes] of [
        ['users@1.1', ['email']],
        [collection, ['project_id', 'name']],
      ] as const) {
        await readModelStore.ensureCollection(name, indexes);
        keepStep();
      }
      const writes = ids.map((id, n): DocumentWrite => {
        const body = { project_id: `project-${n % 3}`, name: `${id}.mp4`, size: n };
        return {
          document: { id, revision: BigInt(n), body: n % 20 === 7 ? null : body },
          foldedFrom: 'whole-stream',
        };
      });
      for (let n = 0; n < ids.length; n += 50) {
        await readModelStore.write(collection, writes.slice(n, n + 50));
        keepStep();
        await putRecord(readModelStore, `generations/${n}`, { live: 1 }, null);
        keepStep();
      }
      await close();
      if (!isLog) keep();
      const original = whole.find(([name]) => name === file)?.[1] ?? Buffer.alloc(0);
      const random = makeSeededRandom(seed);
      const outcomes = { found: 0, same: 0 };
      for (let flip = 0; flip < flips; flip += 1) {
        // When a byte of the file changes
        const bytes = Buffer.from(original);
        const at = Math.floor(random() * bytes.length);
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 + Math.floor(random() * 255)), at);
        let read: ReturnType<typeof readAll>;
        try {
          read = readCopy(bytes);
        } catch (error) {
          // Then it is damage
          t.true(
            error instanceof StoreDamaged || failureOf(error, readModelsFormat)?.kind === 'damaged',
            `byte ${at}: ${String(error)}`,
          );
          outcomes.found += 1;
          continue;
        }
        // or nothing that the service reads has changed. A changed write-ahead log ends at an earlier commit.
        t.true(
          truths.some((truth) => isDeepStrictEqual(read, truth)),
          `byte ${at} of ${bytes.length}: ${truths.map((truth) => differences(read, truth)).join('; ')}`,
        );
        outcomes.same += 1;
      }
      t.log(outcomes);
      // Two bytes in five of the file are read; the others lie between its rows. A fair draw stays far above a twentieth.
      if (isLog) t.true(outcomes.same > flips / 3);
      else t.true(outcomes.found > flips / 20);
    });
  }
}

/** Names the reads that returned something else, with both results. */
function differences(read: object, truth: object): string {
  const others = new Map(Object.entries(truth));
  const differing = Object.entries(read).filter(
    ([name, found]) => !isDeepStrictEqual(found, others.get(name)),
  );
  return differing
    .map(([name, found]) => `${name}: ${inspect(found)}, not ${inspect(others.get(name))}`)
    .join();
}
