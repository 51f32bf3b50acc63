import { cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import { parseEntries } from '../../../src/stores/embedded/log/event-rows.js';
import { openConnection, openReader } from '../../../src/stores/embedded/files/database.js';
import { checkReadModels } from '../../../src/stores/embedded/documents/read-model-scrub.js';
import { makeEvent, readLog } from '../../contracts/event-store-fixtures.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { eventually } from '../../support/eventually.js';
import { wholeFold } from '../../support/clients/document-writes.js';
import {
  givenDirectory,
  makeDirectory,
  openLog,
  openReadModels,
  openState,
  openStores,
} from '../../support/servers/embedded-directory.js';

const [template, things, many] = [makeDirectory(), makeDirectory(), makeDirectory()];

/** Three streams of three events each, appended in turn, and a state record. A few documents, which each read finds, and many. */
test.before(async () => {
  const stores = await openStores(template.directory);
  const { eventStore, stateStore } = stores;
  for (const round of [0, 1, 2]) {
    for (const stream of ['thing-a', 'thing-b', 'thing-c']) {
      const event = makeEvent({ data: { text: `marker ${stream} ${round}` } });
      await eventStore.append(stream, round === 0 ? 'no-stream' : BigInt(round - 1), [event]);
    }
  }
  await stateStore.compareAndSet('key/1', null, { wrapped: 'marker of a key' });
  await stores.close();
  for (const [{ directory }, names] of [
    [things, ['a', '\u{fb01}', '\u{1f600}']],
    [many, Array.from({ length: 600 }, () => 'a')],
  ] as const) {
    const { readModelStore, close } = await openReadModels(directory);
    await readModelStore.ensureCollection('things@1.1', ['name']);
    const documents = names.map((name, n) => wholeFold(`thing-${n}`, 0n, { name }));
    await readModelStore.write('things@1.1', documents);
    for (const read of Object.values(readsByIndex)) await read(readModelStore);
    await close();
  }
});

test.after.always(() => {
  for (const { remove } of [template, things, many]) remove();
});

/** Makes a closed data directory with a log, or one with read models. */
function givenLog(t: ExecutionContext, from = template): string {
  const directory = givenDirectory(t);
  cpSync(from.directory, directory, { recursive: true });
  return directory;
}

const ignore = (): void => undefined;

/** Waits for a store to open, and closes it with the test. */
async function closing<Opened extends { close(): Promise<void> }>(
  t: ExecutionContext,
  opening: Promise<Opened>,
): Promise<Opened> {
  const opened = await opening;
  t.teardown(() => opened.close());
  return opened;
}

/** Changes the last letter of a text in a file. */
function falsify(path: string, text: string): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(
    bytes.readUInt8(bytes.indexOf(text) + text.length - 1) ^ 1,
    bytes.indexOf(text) + text.length - 1,
  );
  writeFileSync(path, bytes);
}

function change(directory: string, sql: string, fileName = 'events.db'): void {
  const connection = openConnection(join(directory, fileName));
  connection.execute(sql);
  connection.close();
}

const damaged = { instanceOf: StoreDamaged, message: /restore events\.db from a backup/ };

test.serial('A changed byte of an event is damage and ends the use of the log', async (t) => {
  const directory = givenLog(t);
  falsify(join(directory, 'events.db'), 'marker thing-b 1');
  const fatal: Error[] = [];
  const onFatal = (error: Error) => fatal.push(error);
  const { eventStore, stateStore } = await closing(t, openStores(directory, { onFatal }));
  t.is((await eventStore.read('thing-a')).length, 3);
  await t.throwsAsync(eventStore.read('thing-b'), damaged);
  await t.throwsAsync(eventStore.read('thing-a'), damaged);
  await t.throwsAsync(eventStore.append('thing-a', 2n, [makeEvent()]), damaged);
  t.is(fatal.length, 1);
  t.is((await stateStore.get('key/1'))?.key, 'key/1');
});

test.serial('A follower of the log fails at the damaged event', async (t) => {
  const directory = givenLog(t);
  falsify(join(directory, 'events.db'), 'marker thing-b 1');
  const { eventStore } = await closing(t, openLog(directory, { onFatal: ignore }));
  const controller = new AbortController();
  const following = eventStore.subscribe({ after: null, signal: controller.signal });
  await t.throwsAsync(async () => following[Symbol.asyncIterator]().next(), damaged);
});

const misplacements = {
  'two events have swapped places': `UPDATE events AS here SET content = there.content, checksum = there.checksum
    FROM events AS there WHERE here.sequence IN (4, 5) AND there.sequence = 9 - here.sequence`,
  'an event has another revision': 'UPDATE events SET revision = 7 WHERE sequence = 8',
  'an event is gone': 'DELETE FROM events WHERE sequence = 5',
};
for (const [what, sql] of Object.entries(misplacements)) {
  test.serial(`A reader of the whole log finds the damage when ${what}`, async (t) => {
    const directory = givenLog(t);
    change(directory, sql);
    const { eventStore } = await closing(t, openLog(directory, { onFatal: ignore }));
    await t.throwsAsync(readLog(eventStore, null), damaged);
  });
}

const inStream = {
  'its last event is gone': 'DELETE FROM events WHERE sequence = 8',
  'events have swapped streams': `UPDATE events SET stream = '' WHERE sequence = 4;
    UPDATE events SET stream = 'stowage.thing-a' WHERE sequence = 5; UPDATE events SET stream = 'stowage.thing-b' WHERE sequence = 4`,
};
for (const [what, sql] of Object.entries(inStream)) {
  test.serial(`A reader of a stream finds the damage when ${what}`, async (t) => {
    const directory = givenLog(t);
    change(directory, sql);
    const { eventStore } = await closing(t, openLog(directory, { onFatal: ignore }));
    await t.throwsAsync(eventStore.read('thing-b'), damaged);
  });
}

test.serial('A repeated append whose last event is gone is not acknowledged again', async (t) => {
  const directory = givenLog(t);
  const events = [makeEvent(), makeEvent()];
  const before = await openLog(directory);
  await before.eventStore.append('thing-d', 'no-stream', events);
  await before.eventStore.append('thing-e', 'no-stream', [makeEvent()]);
  await before.close();
  change(directory, 'DELETE FROM events WHERE sequence = 11');
  const fatal: Error[] = [];
  const onFatal = (error: Error) => fatal.push(error);
  const { eventStore } = await closing(t, openLog(directory, { onFatal }));
  await t.throwsAsync(eventStore.append('thing-d', 'no-stream', events), damaged);
  // A log that a write has found damaged receives no further events.
  await t.throwsAsync(eventStore.append('thing-f', 'no-stream', [makeEvent()]), damaged);
  t.is(fatal.length, 1);
});

const changes = {
  'an event is gone from the middle': 'DELETE FROM events WHERE sequence = 5',
  'a stream has lost its end': "UPDATE streams SET revision = 1 WHERE stream = 'stowage.thing-b'",
  'a stream is not listed': "DELETE FROM streams WHERE stream = 'stowage.thing-b'",
};
for (const [what, sql] of Object.entries(changes)) {
  test.serial(`The log is damaged when ${what}`, async (t) => {
    const directory = givenLog(t);
    change(directory, sql);
    const { eventStore } = await closing(t, openLog(directory, { onFatal: ignore }));
    await t.throwsAsync(async () => {
      await readLog(eventStore, null);
      await eventStore.read('thing-b', { limit: 2 });
      await eventStore.append('thing-b', 1n, [makeEvent()]);
    }, damaged);
  });
}

const refusedAtOpening: Record<string, (directory: string) => void> = {
  'has another header': (directory) => falsify(join(directory, 'events.db'), 'SQLite format 3'),
  'has another schema': (directory) => falsify(join(directory, 'events.db'), 'content TEXT NOT NULL'),
  'has a table of another program': (directory) => change(directory, 'CREATE TABLE other (a)'),
  'was cut off': (directory) => {
    // SQLite itself detects missing whole pages, so the file loses only part of a page.
    const path = join(directory, 'events.db');
    truncateSync(path, statSync(path).size - 10);
  },
  'has lost its last events': (directory) => change(directory, 'DELETE FROM events WHERE sequence > 7'),
  'has a changed last event': (directory) => falsify(join(directory, 'events.db'), 'marker thing-c 2'),
  'has lost its first event': (directory) => change(directory, 'DELETE FROM events WHERE sequence = 1'),
};
for (const [what, damage] of Object.entries(refusedAtOpening)) {
  test.serial(`A log that ${what} is not opened`, async (t) => {
    const directory = givenLog(t);
    damage(directory);
    await t.throwsAsync(openLog(directory), damaged);
    // The first attempt released the directory, so the second one finds the same damage.
    await t.throwsAsync(openLog(directory), damaged);
  });
}

test.serial('The error for a log of a newer format says to run the newer version', async (t) => {
  const directory = givenLog(t);
  change(directory, 'PRAGMA user_version = 9');
  await t.throwsAsync(openLog(directory), { instanceOf: StoreDamaged, message: /Run the newer version\.$/ });
});

test.serial('Read models of a newer format can be deleted instead, and are built again', async (t) => {
  const directory = givenLog(t);
  change(directory, 'PRAGMA user_version = 9', 'read-models.db');
  const message =
    /Run the newer version\. To continue with this version: .*delete read-models\.db; .*builds it again/;
  await t.throwsAsync(openReadModels(directory), { instanceOf: StoreDamaged, message });
  rmSync(join(directory, 'read-models.db'));
  const { readModelStore } = await closing(t, openReadModels(directory, { onFatal: ignore }));
  t.deepEqual(await readModelStore.collections(), []);
});

test.serial('A log that loses its end while it is open is not mistaken for a shorter one', async (t) => {
  // Given an open log with one event more
  const directory = givenLog(t);
  const { eventStore } = await closing(t, openLog(directory, { onFatal: ignore }));
  await eventStore.append('thing-d', 'no-stream', [makeEvent()]);
  // When the file loses that event and the one before
  change(directory, 'DELETE FROM events WHERE sequence > 8');
  // Then no read reports that the log ends there
  await t.throwsAsync(eventStore.head(), {
    instanceOf: StoreDamaged,
    message: /its last 2 events are missing/,
  });
  await t.throwsAsync(eventStore.readAll({ after: null, limit: 100 }), damaged);
});

test.serial('A reader that has read further detects a log that was replaced by an older one', async (t) => {
  const { eventStore } = await closing(t, openLog(givenLog(t), { onFatal: ignore }));
  await t.throwsAsync(eventStore.readAll({ after: '0000000000000010', limit: 1 }), {
    instanceOf: StoreDamaged,
    message: /replaced by an older one/,
  });
});

test.serial('A changed byte of a state record is damage', async (t) => {
  const directory = givenLog(t);
  falsify(join(directory, 'state.db'), 'marker of a key');
  const { stateStore } = await closing(t, openState(directory, { onFatal: ignore }));
  const message = /restore state\.db from a backup/;
  await t.throwsAsync(stateStore.get('key/1'), { instanceOf: StoreDamaged, message });
});

test.serial('The check of the read models finds a document that its unique index lacks', async (t) => {
  // Given documents of a view without other indexes
  const directory = givenDirectory(t);
  const opened = await openReadModels(directory);
  await opened.readModelStore.write('things@1.1', [
    wholeFold('marker-1', 0n, {}),
    wholeFold('marker-2', 0n, {}),
  ]);
  await opened.close();
  const path = join(directory, 'read-models.db');
  const check = (): void => {
    const connection = openReader(path);
    try {
      for (const slice of checkReadModels(connection)) t.is(slice, undefined);
    } finally {
      connection.close();
    }
  };
  check();
  // When one byte of an id changes in the index: its pages begin with 10 (SQLite file format, section 1.6)
  const bytes = readFileSync(path);
  const places: number[] = [];
  for (let at = bytes.indexOf('marker-2'); at >= 0; at = bytes.indexOf('marker-2', at + 1)) {
    if (bytes.readUInt8(at - (at % 4_096)) === 10) places.push(at);
  }
  t.is(places.length, 1);
  for (const at of places) bytes.write('marker-3', at);
  writeFileSync(path, bytes);
  // Then a read by id finds no document, and the check finds the damage
  t.throws(check, { instanceOf: StoreDamaged, message: /an index lacks a document/ });
});

const where = { field: 'name', equals: 'a' } as const;
const readsByIndex: Record<string, (store: ReadModelStore) => Promise<unknown>> = {
  'a list in ascending order': (store) => store.findInOrder('things@1.1', { orderBy: 'name', limit: 10 }),
  'a list in descending order': (store) =>
    store.findInOrder('things@1.1', { orderBy: 'name', descending: true, limit: 10 }),
  'a page of a list': (store) =>
    store.findInOrder('things@1.1', {
      orderBy: 'name',
      descending: true,
      limit: 1,
      after: { value: 'b', id: '' },
    }),
  'documents with a value': (store) => store.find('things@1.1', { where, limit: 10 }),
  'documents with one of some values': (store) =>
    store.find('things@1.1', { where: { field: 'name', anyOf: ['a', 'b'] }, limit: 10 }),
  'ids with a value': (store) => store.ids('things@1.1', { where, limit: 10 }),
};
for (const [what, read] of Object.entries(readsByIndex)) {
  for (const [fault, sql] of [
    ['another document', "UPDATE new_entries SET id = 'thing-2' WHERE id = 'thing-0'"],
    ['a document with another value', "UPDATE new_entries SET value = 'a' WHERE id = 'thing-1'"],
  ] as const)
    test.serial(`A read of ${what} is refused where the index names ${fault}`, async (t) => {
      // Given an index with an entry that does not match its document
      const directory = givenLog(t, things);
      change(directory, sql, 'read-models.db');
      // When it is read, then the read is refused, and the service is given the reason to end
      const reported: Error[] = [];
      const onFatal = (error: Error) => reported.push(error);
      const { readModelStore } = await closing(t, openReadModels(directory, { onFatal }));
      await t.throwsAsync(read(readModelStore), {
        instanceOf: StoreDamaged,
        message: /does not belong to it/,
      });
      t.is(reported.length, 1);
    });
}

const foundByCheck = {
  'an index lacks a document': "DELETE FROM index_entries WHERE id = 'thing-7'",
  'a collection is missing': "DELETE FROM collections WHERE name = 'things@1.1'",
  'a document differs from the one': "UPDATE documents SET revision = 9 WHERE id = 'thing-7'",
};
for (const [finding, sql] of Object.entries(foundByCheck)) {
  test.serial(`The thread that checks the read models after a start reports that ${finding}`, async (t) => {
    // Given changed read models that nothing reads
    const directory = givenLog(t, many);
    change(directory, sql, 'read-models.db');
    // When the service starts, then the thread reports the damage, and the next read is refused
    const reported: Error[] = [];
    const onFatal = (error: Error) => reported.push(error);
    const { readModelStore } = await closing(t, openReadModels(directory, { onFatal }));
    await eventually('the damage is reported', () => reported.length > 0);
    t.true(reported[0]?.message.includes(finding));
    await t.throwsAsync(readModelStore.get('things@1.1', 'thing-1'), { instanceOf: StoreDamaged });
  });
}

for (const [what, sql] of Object.entries({
  name: "UPDATE collections SET name = 'thinga@1.1' WHERE name = 'things@1.1'",
  indexes: "UPDATE collections SET fields = '[]' WHERE name = 'things@1.1'",
})) {
  test.serial(`Read models in which the ${what} of a collection changed are not opened`, async (t) => {
    const directory = givenLog(t, things);
    change(directory, sql, 'read-models.db');
    await t.throwsAsync(openReadModels(directory), { instanceOf: StoreDamaged, message: /a collection has/ });
  });
}

test.serial('The error for damaged read models says that the next start builds them again', async (t) => {
  const directory = givenLog(t);
  writeFileSync(join(directory, 'read-models.db'), 'not a database at all '.repeat(100));
  const message = /delete read-models\.db; the next start builds it again/;
  await t.throwsAsync(openReadModels(directory), { instanceOf: StoreDamaged, message });
});

test('A page of the log that SQLite cannot write as valid JSON is damage', (t) => {
  // A page looks like this when a flipped bit turns a number into a value that SQLite takes for binary JSON.
  for (const page of ['[[1,0,7,92],[71,1,vm�,272]]', '[[1,0,7', '[[1,0,"7",92]]', '[[1,0,null,92]]']) {
    t.throws(() => parseEntries(Buffer.from(page)), { instanceOf: StoreDamaged }, page);
  }
  t.deepEqual(parseEntries(Buffer.from('[[1,0,7,92]]')), [[1, 0, 7, 92]]);
});
