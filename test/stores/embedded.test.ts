import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { StoredDocument } from '../../src/event-sourcing/read-model-store.js';
import { OutcomeUnknown, StoreUnavailable, WrongExpectedRevision } from '../../src/event-sourcing/errors.js';
import { openConnection, openReader } from '../../src/stores/embedded/database.js';
import type { Fault } from '../../src/stores/embedded/faults.js';
import type { EmbeddedStoresOptions } from '../../src/stores/embedded/open-embedded-stores.js';
import { eventsFormat, readModelsFormat, stateFormat } from '../../src/stores/embedded/formats.js';
import { openWriter } from '../../src/stores/embedded/prepare-file.js';
import { makeEvent, makeEvents } from '../contracts/event-store-fixtures.js';
import { wholeFold } from '../support/document-writes.js';
import { makeDirectory, openDocuments, openLog, openStores } from '../support/embedded-directory.js';
import { settableClock } from '../support/settable-clock.js';

type Overrides = Partial<EmbeddedStoresOptions>;

/** Opens stores in a new directory; faults and limits are what the test is about. */
async function givenOpen<Opened extends { close(): Promise<void> }>(
  t: ExecutionContext,
  open: (directory: string, overrides: Overrides) => Promise<Opened>,
  overrides: Overrides = {},
) {
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  const fatal: Error[] = [];
  const opened = await open(directory, { onFatal: (error) => fatal.push(error), ...overrides });
  t.teardown(() => opened.close());
  return { directory, fatal, ...opened };
}

const givenStores = (t: ExecutionContext, overrides?: Overrides) => givenOpen(t, openStores, overrides);
const givenLog = (t: ExecutionContext, overrides?: Overrides) => givenOpen(t, openLog, overrides);
const givenDocuments = (t: ExecutionContext, overrides?: Overrides) => givenOpen(t, openDocuments, overrides);

const commitFails = (overrides: Partial<Fault>): Fault => ({
  file: 'events',
  step: 'commit',
  n: 1,
  when: 'before',
  ...overrides,
});

test.serial('a data directory is made for its user alone, and has one owner at a time', async (t) => {
  const { directory: parent, remove } = makeDirectory();
  t.teardown(remove);
  const directory = join(parent, 'new', 'data');
  const stores = await openStores(directory);
  t.teardown(() => stores.close());
  t.is(statSync(directory).mode & 0o777, 0o700);
  t.regex(stores.sqliteVersion, /^3\.\d+\.\d+$/);
  const error = await t.throwsAsync(openStores(directory), { instanceOf: StoreUnavailable });
  t.regex(error.message, /in use by another process. Stop that one first/);
  await stores.close();
  const second = await openStores(directory);
  await second.close();
});

test.serial('read models of the format before are taken over, with their checkpoints', async (t) => {
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  const connection = openWriter(join(directory, 'read-models.db'), {
    ...readModelsFormat,
    version: 1,
    schema: readModelsFormat.schema.map((sql) => sql.replace(', fingerprint TEXT', '')),
  });
  connection.execute(
    "INSERT INTO collections VALUES (1, 'users@1.1'); INSERT INTO checkpoints VALUES (1, 'log-a', '7')",
  );
  connection.close();
  for (let start = 0; start < 2; start += 1) {
    const stores = await openStores(directory);
    t.deepEqual(await stores.readModelStore.loadCheckpoint('users@1.1'), { logId: 'log-a', position: '7' });
    await stores.close();
  }
});

test.serial('what commits to the log and to the state is synced before it returns', (t) => {
  // No test cuts the power, so what SQLite was told is looked at: 2 is FULL, 1 is NORMAL.
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  for (const [format, expected] of [
    [eventsFormat, 2n],
    [stateFormat, 2n],
    [readModelsFormat, 1n],
  ] as const) {
    const connection = openWriter(join(directory, format.fileName), format);
    t.deepEqual(connection.query('PRAGMA synchronous').get(), [expected]);
    connection.close();
    // and only this connection can write.
    const reader = openReader(join(directory, format.fileName));
    t.throws(
      () => {
        reader.execute('PRAGMA user_version = 9');
      },
      { any: true, code: 'SQLITE_READONLY' },
    );
    reader.close();
  }
});

test.serial('a directory that cannot be locked is not said to be in use', async (t) => {
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  writeFileSync(join(directory, 'lock.db'), 'not a database at all '.repeat(100));
  const error = await t.throwsAsync(openStores(directory), { instanceOf: StoreUnavailable });
  t.regex(error.message, /cannot be locked \(lock\.db: SQLITE_NOTADB\); check the disk/);
});

test.serial('a directory that cannot be made is refused with a sentence', async (t) => {
  const { directory } = await givenStores(t);
  const error = await t.throwsAsync(openStores(join(directory, 'events.db', 'data')), {
    instanceOf: StoreUnavailable,
  });
  t.regex(error.message, /cannot be made; check the path/);
});

test.serial('a store that was closed refuses reads and writes', async (t) => {
  const stores = await givenStores(t);
  const { eventStore, readModelStore, stateStore } = stores;
  await stores.close();
  await t.throwsAsync(eventStore.read('thing-1'), { instanceOf: StoreUnavailable });
  await t.throwsAsync(eventStore.append('thing-1', 'no-stream', makeEvents(1)), {
    instanceOf: StoreUnavailable,
  });
  await t.throwsAsync(readModelStore.ping(), { instanceOf: StoreUnavailable });
  await t.throwsAsync(stateStore.compareAndSet('a/1', null, 1), { instanceOf: StoreUnavailable });
});

test.serial(
  'appends asked for during a commit share the next transaction: a third never comes',
  async (t) => {
    const { directory, eventStore } = await givenLog(t, {
      faults: [commitFails({ when: 'hang', hangMs: 100 }), commitFails({ n: 3, code: 'SQLITE_FULL' })],
    });
    const first = eventStore.append('thing-first', 'no-stream', makeEvents(1));
    await new Promise(setImmediate);
    const streams = Array.from({ length: 200 }, (_, index) => `thing-${index}`);
    await Promise.all([
      first,
      ...streams.map((stream) => eventStore.append(stream, 'no-stream', makeEvents(1))),
    ]);
    t.is((await eventStore.readAll({ after: null, limit: 1_000 })).events.length, 201);
    await t.throwsAsync(eventStore.append('thing-next', 'no-stream', makeEvents(1)));
    // Nothing of it stays: neither in the mark, nor in the place of the next one.
    t.regex(readFileSync(join(directory, 'events.db.mark'), 'latin1'), /^0{13}201 /);
    await eventStore.append('thing-next', 'no-stream', makeEvents(1));
    t.is((await eventStore.readAll({ after: null, limit: 1_000 })).events.length, 202);
  },
);

test.serial(
  'of appends asked for at once, those in a transaction that fails are not there, the others are',
  async (t) => {
    const { eventStore } = await givenLog(t, {
      faults: [{ file: 'events', step: 'statement', n: 100, when: 'before', code: 'SQLITE_FULL' }],
    });
    const streams = Array.from({ length: 1_200 }, (_, index) => `thing-${index}`);
    const results = await Promise.allSettled(
      streams.map((stream) => eventStore.append(stream, 'no-stream', makeEvents(1))),
    );
    const written = streams.filter((_, index) => results[index]?.status === 'fulfilled');
    t.true(written.length >= 200 && written.length < 1_200);
    const { events } = await eventStore.readAll({ after: null, limit: 2_000 });
    t.deepEqual(
      events.map(({ stream }) => stream),
      written,
    );
    t.true(
      results.every((result) => result.status === 'fulfilled' || !(result.reason instanceof OutcomeUnknown)),
    );
  },
);

test.serial(
  'after a failure of the disk nothing that was asked for at the same moment is written either',
  async (t) => {
    const stores = await givenLog(t, {
      faults: [{ file: 'events', step: 'begin', n: 1, when: 'before', code: 'SQLITE_IOERR_READ' }],
    });
    const { directory, eventStore, fatal } = stores;
    const asked = Array.from({ length: 100 }, (_, index) =>
      eventStore.append(`thing-${index}`, 'no-stream', makeEvents(1)),
    );
    for (const result of await Promise.allSettled(asked)) t.is(result.status, 'rejected');
    t.is(fatal.length, 1);
    // Time for the thread to write what it must not.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await stores.close();
    const after = await openLog(directory);
    t.teardown(() => after.close());
    t.is(await after.eventStore.head(), null);
  },
);

test.serial(
  'a full disk refuses what does not fit, keeps what is there, and takes what fits later',
  async (t) => {
    const { eventStore, fatal } = await givenLog(t, { pageCountMax: 40 });
    await eventStore.append('thing-1', 'no-stream', makeEvents(1));
    const large = makeEvent({ data: { text: 'x'.repeat(200_000) } });
    const error = await t.throwsAsync(eventStore.append('thing-1', 0n, [large]), {
      instanceOf: StoreUnavailable,
    });
    t.false(error instanceof OutcomeUnknown);
    t.regex(error.message, /full; make room/);
    t.is((await eventStore.read('thing-1')).length, 1);
    t.is((await eventStore.append('thing-1', 0n, makeEvents(1)))?.revision, 1n);
    t.deepEqual(fatal, []);
  },
);

test.serial(
  'a failed sync of the log is never tried again: everything is refused and the process is told to end',
  async (t) => {
    const log = await givenLog(t, {
      faults: [commitFails({ n: 2, when: 'after', code: 'SQLITE_IOERR_FSYNC' })],
    });
    const { directory, eventStore, fatal } = log;
    await eventStore.append('thing-1', 'no-stream', makeEvents(1));
    await t.throwsAsync(eventStore.append('thing-2', 'no-stream', makeEvents(1)), {
      instanceOf: OutcomeUnknown,
    });
    await t.throwsAsync(eventStore.append('thing-3', 'no-stream', makeEvents(1)), {
      instanceOf: StoreUnavailable,
    });
    await t.throwsAsync(eventStore.read('thing-1'), { instanceOf: StoreUnavailable });
    t.is(fatal.length, 1);
    t.regex(fatal[0]?.message ?? '', /events\.db cannot be read or written .*Check the disk/);
    // Nor is the file tidied, which would sync it once more: the write-ahead log stays as it is.
    await log.close();
    t.true(statSync(join(directory, 'events.db-wal')).size > 0);
  },
);

test.serial('a thread that ends takes the store with it, and the process is told to end', async (t) => {
  const { eventStore, fatal } = await givenLog(t, {
    faults: [commitFails({ code: 'A fault of the program' })],
  });
  await t.throwsAsync(eventStore.append('thing-1', 'no-stream', makeEvents(1)), {
    instanceOf: OutcomeUnknown,
  });
  await t.throwsAsync(eventStore.head(), { instanceOf: StoreUnavailable });
  t.is(fatal.length, 1);
});

test.serial(
  'an append that hangs is unknown, one that waits behind it is not written, and the first can be repeated',
  async (t) => {
    const writeLimitMs = 800;
    const { eventStore } = await givenLog(t, {
      writeLimitMs,
      faults: [commitFails({ when: 'hang', hangMs: 3 * writeLimitMs })],
    });
    const events = makeEvents(2);
    const hanging = eventStore.append('thing-1', 'no-stream', events);
    await new Promise((resolve) => setTimeout(resolve, writeLimitMs / 4));
    const waiting = eventStore.append('thing-2', 'no-stream', makeEvents(1));
    await t.throwsAsync(hanging, { instanceOf: OutcomeUnknown });
    const error = await t.throwsAsync(waiting, { instanceOf: StoreUnavailable });
    t.false(error instanceof OutcomeUnknown);

    const controller = new AbortController();
    for await (const { events: seen } of eventStore.subscribe({ after: null, signal: controller.signal })) {
      if (seen.length === 2) controller.abort();
    }
    t.is((await eventStore.append('thing-1', 'no-stream', events))?.revision, 1n);
    t.deepEqual(await eventStore.read('thing-2'), []);
    await t.throwsAsync(eventStore.append('thing-1', 'no-stream', makeEvents(1)), {
      instanceOf: WrongExpectedRevision,
    });
  },
);

test.serial('too many writes that wait are refused', async (t) => {
  const { stateStore } = await givenDocuments(t, {
    faults: [commitFails({ file: 'state', when: 'hang', hangMs: 300 })],
  });
  const value = 'x'.repeat(1024 * 1024);
  const asked = Array.from({ length: 80 }, (_, index) => stateStore.compareAndSet(`a/${index}`, null, value));
  const results = await Promise.allSettled(asked);
  const refused = results
    .filter((result) => result.status === 'rejected')
    .map(({ reason }) => String(reason));
  t.true(refused.length > 0 && refused.length < 80);
  t.true(refused.every((reason) => reason.includes('too many writes wait')));
  // What was written waits no more, so there is room again.
  t.not(await stateStore.compareAndSet('b/1', null, value + value), null);
});

test.serial(
  'a document written by a commit that seemed to fail is seen, and the change token tells',
  async (t) => {
    const view = 'things@1.1';
    const { readModelStore } = await givenDocuments(t, {
      faults: [commitFails({ file: 'read-models', n: 3, when: 'after', code: 'SQLITE_FULL' })],
    });
    await readModelStore.ensureCollection(view, []);
    await readModelStore.write(view, [wholeFold('a', 0n, { n: 0 })]);
    t.is((await readModelStore.get(view, 'a'))?.revision, 0n);
    const before = readModelStore.changeToken(view);
    await t.throwsAsync(readModelStore.write(view, [wholeFold('a', 1n, { n: 1 })]), {
      instanceOf: OutcomeUnknown,
    });
    t.is((await readModelStore.get(view, 'a'))?.revision, 1n);
    t.not(readModelStore.changeToken(view), before);
  },
);

test.serial('an index that a collection gets later covers the documents it has', async (t) => {
  const { readModelStore } = await givenDocuments(t);
  const view = 'things@1.1';
  const ids = (documents: readonly StoredDocument[]) => documents.map(({ id }) => id);
  const query = { where: { field: 'owner', equals: 'ada' }, limit: 9 };
  await readModelStore.write(view, [wholeFold('a', 0n, { owner: 'ada' }), wholeFold('b', 0n, null)]);
  await t.throwsAsync(readModelStore.find(view, query), { instanceOf: TypeError, message: /not an index/ });
  await readModelStore.ensureCollection(view, ['owner']);
  await readModelStore.write(view, [wholeFold('c', 0n, { owner: 'ada' })]);
  t.deepEqual(ids(await readModelStore.find(view, query)), ['a', 'c']);
});

test.serial('what a dropped collection left behind is removed along with later writes', async (t) => {
  const { directory, readModelStore } = await givenDocuments(t);
  await readModelStore.ensureCollection('old@1.1', ['owner']);
  const writes = Array.from({ length: 500 }, (_, index) =>
    wholeFold(`a${index}`, 0n, { owner: `o${index}` }),
  );
  await readModelStore.write('old@1.1', writes);
  await readModelStore.dropCollection('old@1.1');
  for (let round = 0n; round < 5n; round += 1n) {
    await readModelStore.write('new@1.1', [wholeFold('b', round, { owner: 'x' })]);
  }
  t.deepEqual(rows(directory, 'read-models.db', 'SELECT count(*) FROM documents'), [[1n]]);
  t.deepEqual(rows(directory, 'read-models.db', 'SELECT count(*) FROM index_entries'), [[0n]]);
  t.deepEqual(rows(directory, 'read-models.db', 'SELECT count(*) FROM dropped'), [[0n]]);
});

test.serial('expired state records are removed along with later writes', async (t) => {
  const clock = settableClock();
  const { directory, stateStore } = await givenDocuments(t, { clock });
  const expiresAt = new Date(clock.now().getTime() + 1_000);
  for (let index = 0; index < 30; index += 1)
    await stateStore.compareAndSet(`a/${index}`, null, 1, { expiresAt });
  clock.advance(1_000);
  for (let index = 0; index < 2; index += 1) await stateStore.compareAndSet(`b/${index}`, null, 1);
  t.deepEqual(rows(directory, 'state.db', 'SELECT count(*) FROM records'), [[2n]]);
});

function rows(directory: string, file: string, sql: string): unknown[] {
  const connection = openConnection(join(directory, file));
  const found = connection.query(sql).all();
  connection.close();
  return found;
}
