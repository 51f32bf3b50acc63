import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Connection } from '../../../src/stores/embedded/files/database.js';
import type { FileFormat } from '../../../src/stores/embedded/files/formats.js';
import type { HighWaterMark } from '../../../src/stores/embedded/files/high-water-mark.js';
import { type Intercept, makeTransactions } from '../../../src/stores/embedded/writing/transactions.js';
import { makeEvents } from '../../contracts/event-store-fixtures.js';
import { wholeFold } from '../../support/clients/document-writes.js';
import { partial } from '../../support/fakes/partial.js';
import { givenDirectory, openStores } from '../../support/servers/embedded-directory.js';

const files = ['events', 'read-models', 'state'] as const;

// A write into a mapped file waits while the file system is frozen, and the main thread would wait with it.
test('Reads after acknowledged writes change no byte of the mapped indexes of the write-ahead logs', async (t) => {
  const directory = givenDirectory(t);
  const stores = await openStores(directory);
  t.teardown(() => stores.close());
  const { eventStore, readModelStore, stateStore } = stores;
  await readModelStore.ensureCollection('things@1.1', []);
  const indexes = (): readonly string[] => files.map((file) => digestOf(join(directory, `${file}.db-shm`)));
  for (let n = 0; n < 5; n += 1) {
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

test('A writing thread notes its read in the mapped index before it writes the mark of the file, for which a frozen disk may keep it', (t) => {
  // Given a file with a mark
  const steps: string[] = [];
  const step = (name: string) => () => {
    steps.push(name);
    return 0;
  };
  const connection = partial<Connection>({
    statement: (sql) => step(sql),
    query: () => ({ get: () => void step('read')(), all: () => [] }),
  });
  const intercept: Intercept = (_, run) => run();
  const openMark = () => partial<HighWaterMark>({ raise: step('mark') });
  const format = partial<FileFormat>({ name: 'events' });
  const write = makeTransactions<null, null>({ connection, format, intercept, openMark }, () => ({
    apply: () => null,
    beforeCommit: () => undefined,
    reload: () => 'there',
    end: () => 1,
  }));
  // When it commits a write
  t.is(write([null]).kind, 'committed');
  // Then the read comes first.
  t.deepEqual(steps, ['BEGIN IMMEDIATE', 'COMMIT', 'read', 'mark']);
});

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
