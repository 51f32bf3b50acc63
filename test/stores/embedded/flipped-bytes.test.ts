import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { openReader } from '../../../src/stores/embedded/files/database.js';
import { failureOf } from '../../../src/stores/embedded/files/failures.js';
import { readModelsFormat } from '../../../src/stores/embedded/files/formats.js';
import { makeReadModelQueries } from '../../../src/stores/embedded/documents/read-model-queries.js';
import { makeSeededRandom } from '../../support/fakes/clock.js';
import { makeDirectory, openDocuments } from '../../support/servers/embedded-directory.js';
import { putRecord, recordsCollection } from '../../../src/event-sourcing/ports/records.js';

const collection = 'assets@1.1';
const ids = Array.from({ length: 150 }, (_, n) => `asset-${String(n).padStart(3, '0')}`);

/** Reads all that the file holds, in each way that the service reads, and checks it as the service does. */
function readAll(path: string): unknown {
  const connection = openReader(path);
  try {
    const queries = makeReadModelQueries(connection);
    const read = {
      collections: queries.collections(),
      each: ids.map((id) => queries.getMany(collection, [id])),
      many: queries.getMany(collection, ids),
      all: queries.find(collection, { limit: 500 }),
      some: queries.find(collection, { where: { field: 'project_id', equals: 'project-1' }, limit: 500 }),
      ordered: queries.findInOrder(collection, { orderBy: 'name', limit: 500 }),
      records: queries.scan(recordsCollection, { limit: 500 }),
    };
    for (let after: bigint | null = 0n; after !== null;) after = queries.checkSlice(after);
    return read;
  } finally {
    connection.close();
  }
}

test('Flipped bits of the read models are found, by a read or by the check of all documents', async (t) => {
  // Given read models with documents, indexes and a record
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  const path = join(directory, 'read-models.db');
  const stores = await openDocuments(directory);
  const { readModelStore } = stores;
  await readModelStore.ensureCollection(collection, ['project_id', 'name']);
  const bodyOf = (id: string, n: number): JsonObject => ({
    project_id: `project-${n % 3}`,
    name: `${id}.mp4`,
    size: n,
  });
  await readModelStore.write(
    collection,
    ids.map((id, n) => ({
      document: { id, revision: BigInt(n), body: n % 20 === 7 ? null : bodyOf(id, n) },
      foldedFrom: 'whole-stream',
    })),
  );
  await putRecord(readModelStore, 'generations/assets', { live: 1 }, null);
  await stores.close();
  const whole = readFileSync(path);
  rmSync(`${path}-wal`, { force: true });
  const truth = readAll(path);
  const random = makeSeededRandom(20_261_122);
  const outcomes = { found: 0, unused: 0 };
  for (let flip = 0; flip < 400; flip += 1) {
    // When a bit of the file changes
    const bytes = Buffer.from(whole);
    const at = 100 + Math.floor(random() * (whole.length - 100));
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at);
    writeFileSync(path, bytes);
    let read: unknown;
    try {
      read = readAll(path);
    } catch (error) {
      // Then it is damage
      if (error instanceof StoreDamaged || failureOf(error, readModelsFormat)?.kind === 'damaged') {
        outcomes.found += 1;
        continue;
      }
      // A collection whose name or index has changed is not there, so the service builds it again.
      t.true(error instanceof TypeError, `byte ${at}: ${String(error)}`);
      outcomes.found += 1;
      continue;
    }
    // Or nothing that the service reads has changed, or the collection is not there
    if ((read as { collections: string[] }).collections.includes(collection)) {
      t.deepEqual(read, truth, `byte ${at}`);
      outcomes.unused += 1;
    } else outcomes.found += 1;
  }
  t.log(outcomes);
  t.true(outcomes.found > 100);
});
