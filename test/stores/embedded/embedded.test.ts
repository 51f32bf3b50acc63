import { cpSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import type { StoredDocument } from '../../../src/event-sourcing/ports/read-model-store.js';
import { StoreDamaged, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { openSource } from '../../../src/stores/embedded/files/copy-stores.js';
import { openConnection, openReader } from '../../../src/stores/embedded/files/database.js';
import { eventsFormat, readModelsFormat, stateFormat } from '../../../src/stores/embedded/files/formats.js';
import { openWriter } from '../../../src/stores/embedded/files/prepare-file.js';
import { makeEvents } from '../../contracts/event-store-fixtures.js';
import { wholeFold } from '../../support/clients/document-writes.js';
import { eventually } from '../../support/eventually.js';
import {
  givenDirectory,
  makeDirectory,
  openLog,
  openReadModels,
  openState,
  openStores,
} from '../../support/servers/embedded-directory.js';
import { settableClock } from '../../support/fakes/settable-clock.js';
import { givenLog, givenReadModels, givenState, givenStores } from '../../support/given/given-embedded.js';

test.serial('A data directory is created for its user alone, and has one owner at a time', async (t) => {
  const parent = givenDirectory(t);
  const directory = join(parent, 'new', 'data');
  const stores = await openStores(directory);
  t.teardown(() => stores.close());
  t.is(statSync(directory).mode & 0o777, 0o700);
  t.regex(stores.sqliteVersion, /^3\.\d+\.\d+$/);
  const error = await t.throwsAsync(openStores(directory), { instanceOf: StoreUnavailable });
  t.regex(error.message, /in use by another process. Stop that one first/);
  await stores.close();
  const second = await openLog(directory);
  await second.close();
});

test.serial('A directory opens whose first start was killed while it created the schema', async (t) => {
  // Given files of which SQLite has written pages whose transaction is only in a journal
  const [begun, killed] = [makeDirectory(), makeDirectory()];
  t.teardown(begun.remove);
  t.teardown(killed.remove);
  const connection = openConnection(join(begun.directory, 'events.db'));
  connection.execute(`PRAGMA cache_size = 1; BEGIN IMMEDIATE; ${eventsFormat.schema.join(';')}`);
  connection.execute(
    "INSERT INTO streams SELECT value || hex(zeroblob(999)), 0 FROM json_each('[1,2,3,4,5,6]')",
  );
  for (const name of ['events.db', 'events.db-journal']) {
    cpSync(join(begun.directory, name), join(killed.directory, name));
    t.true(statSync(join(killed.directory, name)).size > 0, name);
  }
  connection.close();
  // When the service starts again, then it begins with an empty log, and goes on at the next start
  for (const start of [0, 1]) {
    const stores = await openLog(killed.directory);
    t.is((await stores.eventStore.read('thing-0')).length, start);
    await stores.eventStore.append(`thing-${start}`, 'no-stream', makeEvents(1));
    await stores.close();
  }
});

test.serial(
  'Files of a program from before the first release are refused, and stay as they are',
  async (t) => {
    for (const [format, open] of [
      [eventsFormat, openLog],
      [stateFormat, openState],
      [readModelsFormat, openReadModels],
    ] as const) {
      // Given a file with the application_id of that program, in a format of it
      const directory = givenDirectory(t);
      const path = join(directory, format.fileName);
      const old = openConnection(path);
      old.execute(`${format.schema.join(';')}; PRAGMA application_id = 0x53545747; PRAGMA user_version = 2`);
      old.close();
      const before = readFileSync(path);
      // When the service starts, or a command reads the file
      const refusals = [
        await t.throwsAsync<Error>(open(directory), { instanceOf: StoreDamaged }),
        t.throws(() => openSource(directory, format), { instanceOf: StoreDamaged }),
      ];
      // Then each says whose file it is and what to do, and the file is unchanged
      const remedy =
        format === readModelsFormat ? /delete read-models\.db; / : /set DATA_DIR to an empty one/;
      for (const { message } of refusals) {
        t.true(message.startsWith(`${format.fileName} does not carry the stamp of this program: `), message);
        t.regex(message, remedy);
      }
      t.deepEqual(readFileSync(path), before);
    }
  },
);

test.serial('Each file carries the stamp STOW and format 1', async (t) => {
  const { directory } = await givenStores(t);
  for (const { fileName } of [eventsFormat, stateFormat, readModelsFormat]) {
    const reader = openReader(join(directory, fileName));
    t.deepEqual(reader.query('PRAGMA application_id').get(), [BigInt(Buffer.from('STOW').readUInt32BE())]);
    t.deepEqual(reader.query('PRAGMA user_version').get(), [1n]);
    reader.close();
  }
});

test.serial('Commits to the log and to the state are synced before they return', (t) => {
  // No test cuts the power, so the test reads the setting of SQLite: 2 is FULL, 1 is NORMAL.
  const directory = givenDirectory(t);
  for (const [format, expected] of [
    [eventsFormat, 2n],
    [stateFormat, 2n],
    [readModelsFormat, 1n],
  ] as const) {
    const connection = openWriter(join(directory, format.fileName), format);
    t.deepEqual(connection.query('PRAGMA synchronous').get(), [expected]);
    connection.close();
    // Only this connection can write.
    const reader = openReader(join(directory, format.fileName));
    t.throws(() => reader.execute('PRAGMA user_version = 9'), { any: true, code: 'SQLITE_READONLY' });
    reader.close();
  }
});

test.serial('The error for a directory that cannot be locked does not say that it is in use', async (t) => {
  const directory = givenDirectory(t);
  writeFileSync(join(directory, 'lock.db'), 'not a database at all '.repeat(100));
  const error = await t.throwsAsync(openStores(directory), { instanceOf: StoreUnavailable });
  t.regex(error.message, /cannot be locked \(lock\.db: SQLITE_NOTADB\); check the disk/);
});

test.serial('The store refuses a directory that cannot be made with a sentence', async (t) => {
  const directory = givenDirectory(t);
  writeFileSync(join(directory, 'file'), '');
  const error = await t.throwsAsync(openStores(join(directory, 'file', 'data')), {
    instanceOf: StoreUnavailable,
  });
  t.regex(error.message, /cannot be made; check the path/);
});

test.serial('A closed store refuses reads and writes', async (t) => {
  const stores = await givenStores(t);
  const { eventStore, readModelStore, stateStore } = stores;
  await stores.close();
  await t.throwsAsync(eventStore.read('thing-1'), { instanceOf: StoreUnavailable });
  await t.throwsAsync(eventStore.append('thing-1', 'no-stream', makeEvents(1)), {
    instanceOf: StoreUnavailable,
  });
  await t.throwsAsync(readModelStore.collections(), { instanceOf: StoreUnavailable });
  await t.throwsAsync(stateStore.compareAndSet('a/1', null, 1), { instanceOf: StoreUnavailable });
});

test.serial('A reader far behind the log leaves turns of the event loop to requests', async (t) => {
  // Given a log of five pages
  const { eventStore } = await givenLog(t);
  for (let n = 0; n < 5; n += 1) await eventStore.append(`thing-${n}`, 'no-stream', makeEvents(200));
  // When a consumer that waits for nothing reads it to its end, while other work waits for turns
  const ending = new AbortController();
  let [turns, reading] = [0, true];
  const work = (async () => {
    for (; reading; turns += 1) await setImmediate();
  })();
  for await (const { atHead } of eventStore.subscribe({ after: null, signal: ending.signal }))
    if (atHead) break;
  reading = false;
  await work;
  // Then the work had a turn for each page but the last
  t.true(turns >= 4, String(turns));
});

test.serial('An index that a collection receives later covers its existing documents', async (t) => {
  const { readModelStore } = await givenReadModels(t);
  const view = 'things@1.1';
  const ids = (documents: readonly StoredDocument[]) => documents.map(({ id }) => id);
  const query = { where: { field: 'owner', equals: 'ada' }, limit: 9 };
  await readModelStore.write(view, [wholeFold('a', 0n, { owner: 'ada' }), wholeFold('b', 0n, null)]);
  await t.throwsAsync(readModelStore.find(view, query), { instanceOf: TypeError, message: /not an index/ });
  await readModelStore.ensureCollection(view, ['owner']);
  await readModelStore.write(view, [wholeFold('c', 0n, { owner: 'ada' })]);
  t.deepEqual(ids(await readModelStore.find(view, query)), ['a', 'c']);
});

test.serial(
  'Documents of a commit that its thread has not reported yet are found, and are no damage',
  async (t) => {
    // Given a document and an absence that the store has cached
    const { directory, readModelStore } = await givenReadModels(t);
    const view = 'things@1.1';
    await readModelStore.ensureCollection(view, ['owner']);
    await readModelStore.write(view, [wholeFold('a', 0n, { owner: 'ada' })]);
    t.is((await readModelStore.getMany(view, ['a', 'b'])).length, 1);
    // When both change while this thread is busy
    const writing = readModelStore.write(view, [
      wholeFold('a', 1n, { owner: 'bob' }),
      wholeFold('b', 0n, { owner: 'bob' }),
    ]);
    await setImmediate();
    const reader = openReader(join(directory, 'read-models.db'));
    const select = reader.query("SELECT count(*) FROM documents WHERE id = 'b'");
    while (!isDeepStrictEqual(select.all(), [[1n]]));
    reader.close();
    // Then
    const query = { where: { field: 'owner', equals: 'bob' }, limit: 9 };
    t.deepEqual(await readModelStore.ids(view, query), ['a', 'b']);
    const found = await readModelStore.find(view, query);
    t.deepEqual(
      found.map(({ id, revision }) => [id, revision]),
      [
        ['a', 1n],
        ['b', 0n],
      ],
    );
    await writing;
  },
);

test.serial('Lists are in order while the index takes in the newest entries, many at a time', async (t) => {
  const { directory, readModelStore } = await givenReadModels(t);
  const view = 'things@1.1';
  await readModelStore.ensureCollection(view, ['owner', 'rank']);
  const ids = (documents: readonly StoredDocument[]) => documents.map(({ id }) => id);
  const where = { field: 'owner', equals: 'ada' };
  const count = (table: string) => rows(directory, 'read-models.db', `SELECT count(*) FROM ${table}`);
  const ranks = new Map<string, string>();
  // When 300 documents come one after the other, and each third one goes again
  for (let n = 0; n < 300; n += 1) {
    const [id, rank] = [String((n * 77) % 300).padStart(3, '0'), String((n * 31) % 300).padStart(3, '0')];
    await readModelStore.write(view, [wholeFold(id, 0n, { owner: 'ada', rank })]);
    ranks.set(id, rank);
    if (n % 3 === 2) {
      const [gone] = [...ranks.keys()].slice(n % ranks.size);
      await readModelStore.write(view, [wholeFold(gone ?? '', 1n, null)]);
      ranks.delete(gone ?? '');
    }
    if (n % 30 !== 29) continue;
    // Then every query has all others, wherever their entries are
    const up = [...ranks.keys()].sort();
    const byRank = [...ranks].sort(([, one], [, other]) => one.localeCompare(other)).map(([id]) => id);
    const order = { orderBy: 'rank', limit: 500 };
    t.deepEqual(await readModelStore.ids(view, { where, limit: 500 }), up);
    t.deepEqual(
      await readModelStore.ids(view, { where, limit: 3, descending: true }),
      up.slice(-3).reverse(),
    );
    t.deepEqual(
      ids(await readModelStore.find(view, { where, limit: 5, after: up[4] ?? '' })),
      up.slice(5, 10),
    );
    t.deepEqual(ids(await readModelStore.findInOrder(view, order)), byRank);
    t.deepEqual(
      ids(await readModelStore.findInOrder(view, { ...order, descending: true })),
      byRank.reverse(),
    );
    t.deepEqual(count('entries'), [[BigInt(2 * ranks.size)]]);
  }
  t.notDeepEqual(count('index_entries'), [[0n]]);
  // And without further writes no query reads the newest ones
  await eventually('all entries are in the index', () =>
    Promise.resolve(isDeepStrictEqual(count('new_entries'), [[0n]])),
  );
});

test.serial('A store to which nothing is written leaves the newest entries where they are', async (t) => {
  // Given a directory whose newest entries are not in the index
  const { directory, readModelStore, close } = await givenReadModels(t);
  const view = 'things@1.1';
  await readModelStore.ensureCollection(view, ['owner']);
  await readModelStore.write(view, [wholeFold('a', 0n, { owner: 'ada' })]);
  await close();
  const newest = () => rows(directory, 'read-models.db', 'SELECT count(*) FROM new_entries');
  const before = newest();
  // When it is opened, and closed later than the index takes entries in after a write
  const again = await openReadModels(directory);
  await setTimeout(800);
  await again.close();
  // Then
  t.deepEqual(newest(), before);
});

test.serial('Later writes remove the rows of a dropped collection', async (t) => {
  const { directory, readModelStore } = await givenReadModels(t);
  await readModelStore.ensureCollection('old@1.1', ['owner']);
  const writes = Array.from({ length: 500 }, (_, index) =>
    wholeFold(`a${index}`, 0n, { owner: `o${index}` }),
  );
  await readModelStore.write('old@1.1', writes);
  await readModelStore.write('old@1.1', [wholeFold('late', 0n, { owner: 'x' })]);
  await readModelStore.dropCollection('old@1.1');
  for (let round = 0n; round < 5n; round += 1n) {
    await readModelStore.write('new@1.1', [wholeFold('b', round, { owner: 'x' })]);
  }
  t.deepEqual(rows(directory, 'read-models.db', 'SELECT count(*) FROM documents'), [[1n]]);
  t.deepEqual(rows(directory, 'read-models.db', 'SELECT count(*) FROM entries'), [[0n]]);
  t.deepEqual(rows(directory, 'read-models.db', 'SELECT count(*) FROM collections WHERE name IS NULL'), [
    [0n],
  ]);
});

test.serial('A write while the clock is an hour ahead removes no state record', async (t) => {
  const clock = settableClock();
  const { stateStore } = await givenState(t, { clock });
  const expiresAt = new Date(clock.now().getTime() + 1_000);
  await stateStore.compareAndSet('a', null, 1, { expiresAt });
  clock.advance(3_600_000);
  await stateStore.compareAndSet('b', null, 1);
  clock.advance(-3_600_000);
  t.like(await stateStore.get('a'), { value: 1 });
});

test.serial('Later writes remove expired state records', async (t) => {
  const clock = settableClock();
  const { directory, stateStore } = await givenState(t, { clock });
  const expiresAt = new Date(clock.now().getTime() + 1_000);
  for (let index = 0; index < 30; index += 1)
    await stateStore.compareAndSet(`a/${index}`, null, 1, { expiresAt });
  clock.advance(3_601_000);
  for (let index = 0; index < 2; index += 1) await stateStore.compareAndSet(`b/${index}`, null, 1);
  t.deepEqual(rows(directory, 'state.db', 'SELECT count(*) FROM records'), [[2n]]);
});

function rows(directory: string, file: string, sql: string): unknown[] {
  const connection = openConnection(join(directory, file));
  const found = connection.query(sql).all();
  connection.close();
  return found;
}

test.serial('Pages that are read one after the other let other work have its turn', async (t) => {
  const { readModelStore } = await givenReadModels(t);
  const ids = Array.from({ length: 40 }, (_, n) => `d${String(n).padStart(2, '0')}`);
  await readModelStore.write(
    'things@1.1',
    ids.map((id) => wholeFold(id, 0n, {})),
  );
  const { stateStore } = await givenState(t);
  for (const id of ids) await stateStore.compareAndSet(id, null, id);
  for (const read of [
    (after: string) =>
      readModelStore.scan('things@1.1', { after, limit: 10 }).then((page) => page.at(-1)?.id),
    (after: string) => stateStore.list('d', { after, limit: 10 }).then((page) => page.at(-1)?.key),
  ]) {
    let turns = 0;
    const over = new AbortController();
    const others = (async () => {
      for (; !over.signal.aborted; turns += 1) await setImmediate();
    })();
    let pages = 0;
    for (let after: string | undefined = ''; after !== undefined; pages += 1) after = await read(after);
    over.abort();
    await others;
    t.is(pages, 5);
    t.true(turns >= 4, `${turns} turns`);
  }
});
