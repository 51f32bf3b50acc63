import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { makeEvents } from '../../contracts/event-store-fixtures.js';
import { wholeFold } from '../../support/clients/document-writes.js';
import { makeDirectory, openStores } from '../../support/servers/embedded-directory.js';

const files = ['events', 'read-models', 'state'] as const;

// A write into a mapped file waits while the file system is frozen, and the main thread would wait with it.
test('Reads after acknowledged writes change no byte of the mapped indexes of the write-ahead logs', async (t) => {
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  const stores = await openStores(directory);
  t.teardown(() => stores.close());
  const { eventStore, readModelStore, stateStore } = stores;
  await readModelStore.ensureCollection('things@1.1', []);
  const indexes = (): readonly string[] => files.map((file) => digestOf(join(directory, `${file}.db-shm`)));
  for (let n = 0; n < 20; n += 1) {
    // Given acknowledged writes to each file
    const before = indexes();
    await eventStore.append(`thing-${n}`, 'no-stream', makeEvents(1));
    await readModelStore.write('things@1.1', [wholeFold(`thing-${n}`, 0n, { n })]);
    await stateStore.compareAndSet(`key-${n}`, null, { n });
    const written = indexes();
    for (const [index, file] of files.entries()) t.not(written[index], before[index], file);
    // When the main thread reads each file
    t.is((await eventStore.read(`thing-${n}`)).length, 1);
    t.is((await readModelStore.scan('things@1.1', { limit: 100 })).length, n + 1);
    t.deepEqual((await stateStore.get(`key-${n}`))?.value, { n });
    // Then the indexes are as the writing threads left them
    t.deepEqual(indexes(), written);
  }
});

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
