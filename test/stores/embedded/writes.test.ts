import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { isForLackOfRoom } from '../../../src/event-sourcing/feeding/projectors/projector-task.js';
import {
  OutcomeUnknown,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../../src/event-sourcing/ports/errors.js';
import { makeEvent, makeEvents } from '../../contracts/event-store-fixtures.js';
import { wholeFold } from '../../support/clients/document-writes.js';
import { givenDirectory, openLog, openStores } from '../../support/servers/embedded-directory.js';
import { openConnection } from '../../../src/stores/embedded/files/database.js';
import { failureOf } from '../../../src/stores/embedded/files/failures.js';
import { eventsFormat } from '../../../src/stores/embedded/files/formats.js';
import { hasOpenFlag, openWriter, setOpenFlag } from '../../../src/stores/embedded/files/prepare-file.js';
import { makeEventWriter } from '../../../src/stores/embedded/log/event-writer.js';

import {
  commitFails,
  givenLog,
  givenReadModels,
  givenState,
  givenStores,
} from '../../support/given/given-embedded.js';

test.serial(
  'Appends that are requested during a commit share the next transaction, so no third one runs',
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
    // The failed append leaves no trace, neither in the mark nor in the sequence of the next event.
    t.regex(readFileSync(join(directory, 'events.db.mark'), 'latin1'), /^0{13}201 /);
    await eventStore.append('thing-next', 'no-stream', makeEvents(1));
    t.is((await eventStore.readAll({ after: null, limit: 1_000 })).events.length, 202);
  },
);

test.serial('Appends of further turns join several that wait, as long as each turn brings one', async (t) => {
  const { eventStore } = await givenLog(t, { faults: [commitFails({ n: 2, code: 'SQLITE_FULL' })] });
  const appends = [eventStore.append('thing-first', 'no-stream', makeEvents(1))];
  for (const stream of ['thing-1', 'thing-2', 'thing-3']) {
    appends.push(eventStore.append(stream, 'no-stream', makeEvents(1)));
    await new Promise(setImmediate);
  }
  await Promise.all(appends);
  t.is((await eventStore.readAll({ after: null, limit: 10 })).events.length, 4);
});

test.serial('A write without room says so, also where its outcome is unknown', async (t) => {
  for (const [step, outcome] of [
    ['statement', StoreUnavailable],
    ['commit', OutcomeUnknown],
  ] as const) {
    const { eventStore } = await givenLog(t, {
      faults: [
        { file: 'events', step, n: 1, when: step === 'commit' ? 'after' : 'before', code: 'SQLITE_FULL' },
      ],
    });
    const error = await t.throwsAsync(eventStore.append('thing-1', 'no-stream', makeEvents(1)), {
      instanceOf: outcome,
    });
    t.true(isForLackOfRoom(error), step);
    t.regex(error.message, /the disk of events\.db is full/);
  }
  t.false(isForLackOfRoom(new StoreUnavailable('away')));
});

test.serial('Of concurrent appends, only those whose transaction succeeded are written', async (t) => {
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
});

test.serial(
  'After a disk failure the store writes none of the appends that were requested at the same moment',
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
    // This gives the thread time for a write that must not happen.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await stores.close();
    const after = await openLog(directory);
    t.teardown(() => after.close());
    t.is(await after.eventStore.head(), null);
  },
);

test.serial(
  'A full disk refuses an append that does not fit, keeps its data, and accepts a later append that fits',
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

test('A file on a full disk opens for reads, and notes that it is open as soon as there is room', (t) => {
  // Given a file that its process closed, on a disk that has no room for the note
  const path = join(givenDirectory(t), eventsFormat.fileName);
  const connection = openWriter(path, eventsFormat);
  t.teardown(() => connection.close());
  makeEventWriter(connection, (sql) => connection.statement(sql), 'a-log');
  const full = {
    ...connection,
    execute: () => {
      throw Object.assign(new Error('no room'), { code: 'SQLITE_FULL' });
    },
  };
  // When
  const isNoted = setOpenFlag(full, eventsFormat);
  // Then
  t.false(isNoted);
  t.false(hasOpenFlag(connection, eventsFormat));
  t.true(setOpenFlag(connection, eventsFormat));
  t.true(hasOpenFlag(connection, eventsFormat));
});

test('A disk without room for the index of a write-ahead log is named as full', (t) => {
  const error = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_SHMSIZE' });
  t.like(failureOf(error, eventsFormat), {
    kind: 'io',
    message:
      'events.db cannot be read or written (SQLITE_IOERR_SHMSIZE: disk I/O error). Make room on the disk, then start the service again',
  });
});

test.serial(
  'The store never retries a failed sync of the log: it refuses every call and reports a fatal error',
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
    // Closing the file must not run a checkpoint, which would sync it again; so the write-ahead log stays.
    await log.close();
    t.true(statSync(join(directory, 'events.db-wal')).size > 0);
  },
);

test.serial(
  'When the writer thread ends, every store refuses its calls and reports one fatal error',
  async (t) => {
    const { eventStore, stateStore, readModelStore, fatal } = await givenStores(t, {
      faults: [commitFails({ code: 'A fault of the program' })],
    });
    await t.throwsAsync(eventStore.append('thing-1', 'no-stream', makeEvents(1)), {
      instanceOf: OutcomeUnknown,
    });
    await t.throwsAsync(eventStore.head(), { instanceOf: StoreUnavailable });
    await t.throwsAsync(stateStore.compareAndSet('a/1', null, 1), { instanceOf: StoreUnavailable });
    await t.throwsAsync(readModelStore.get('things@1.1', 'a'), { instanceOf: StoreUnavailable });
    t.is(fatal.length, 1);
  },
);

test.serial(
  'An append that hangs is unknown and can be repeated, and the one queued behind it is not written',
  async (t) => {
    const writeLimitMs = 800;
    const { eventStore } = await givenLog(t, {
      writeLimitMs,
      faults: [commitFails({ when: 'hang', hangMs: 3 * writeLimitMs })],
    });
    const events = makeEvents(2);
    const askedMs = performance.now();
    let refusedAfterMs = Infinity;
    const hanging = eventStore.append('thing-1', 'no-stream', events);
    hanging.catch(() => (refusedAfterMs = performance.now() - askedMs));
    await new Promise((resolve) => setTimeout(resolve, writeLimitMs / 4));
    const waiting = eventStore.append('thing-2', 'no-stream', makeEvents(1));
    await t.throwsAsync(hanging, { instanceOf: OutcomeUnknown });
    t.true(refusedAfterMs >= writeLimitMs);
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

test.serial(
  'Stores that close while SQLite waits within a write let it end, and abort no process',
  async (t) => {
    // Given a write that waits for a lock of another connection, longer than its limit
    const stores = await givenStores(t, { writeLimitMs: 20 });
    const { directory, stateStore } = stores;
    const other = openConnection(join(directory, 'state.db'));
    t.teardown(() => other.close());
    other.execute('BEGIN IMMEDIATE');
    await t.throwsAsync(stateStore.compareAndSet('a/1', null, 1), { instanceOf: OutcomeUnknown });
    // When the stores close, and the lock is free later
    const closing = stores.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
    other.execute('ROLLBACK');
    await closing;
    // Then the write was made before the file was closed
    const after = await openStores(directory);
    t.teardown(() => after.close());
    t.is((await after.stateStore.get('a/1'))?.value, 1);
  },
);

test.serial('The store refuses writes when its queue is full', async (t) => {
  const { stateStore } = await givenState(t, {
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
  // The written requests have left the queue, so it has room again.
  t.not(await stateStore.compareAndSet('b/1', null, value + value), null);
});

test.serial(
  'A document of a commit that seemed to fail is visible, and the change token differs',
  async (t) => {
    const view = 'things@1.1';
    const { readModelStore } = await givenReadModels(t, {
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
