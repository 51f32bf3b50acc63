import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { logPageBytesMax } from '../../../src/event-sourcing/ports/event-store.js';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import { makeCategoryReader } from '../../../src/stores/embedded/log/category-reader.js';
import { type Connection, openConnection, openReader } from '../../../src/stores/embedded/files/database.js';
import { makeEventReader } from '../../../src/stores/embedded/log/event-reader.js';
import { makeEvent } from '../../contracts/event-store-fixtures.js';
import { givenDirectory, makeDirectory, openLog } from '../../support/servers/embedded-directory.js';

const streamPrefix = 'stowage.';
const streams = ['book-a', 'books-a', 'book-b', 'boo-a'];

const root = makeDirectory();
test.after.always(() => root.remove());
const made = new Map<string, Promise<void>>();

/** Given a closed log of streams whose categories begin alike, each with one event of every round. */
async function givenLog(t: ExecutionContext, rounds: number, text = ''): Promise<string> {
  const template = join(root.directory, `${rounds} ${text.length}`);
  if (!made.has(template)) made.set(template, makeLog(template, rounds, text));
  await made.get(template);
  const path = join(givenDirectory(t), 'events.db');
  copyFileSync(join(template, 'events.db'), path);
  return path;
}

async function makeLog(directory: string, rounds: number, text: string): Promise<void> {
  const log = await openLog(directory);
  for (let round = 0; round < rounds; round += 1) {
    for (const stream of streams) {
      const event = makeEvent({ data: { stream, round, text } });
      await log.eventStore.append(stream, round === 0 ? 'no-stream' : BigInt(round - 1), [event]);
    }
  }
  await log.close();
}

function change(path: string, sql: string): void {
  const connection = openConnection(path);
  connection.execute(sql);
  connection.close();
}

function opening(t: ExecutionContext, path: string): Connection {
  const connection = openReader(path);
  t.teardown(() => connection.close());
  return connection;
}

/** Reads a category to the head of the log. Returns its pages. */
function pagesOf(
  connection: Connection,
  category: string,
  { limit, windowMax = 1_000 }: { readonly limit: number; readonly windowMax?: number },
) {
  const options = { category, streamPrefix, windowMax };
  const read = makeCategoryReader(connection, makeEventReader(connection), options);
  const pages: ReturnType<typeof read>[] = [];
  for (let after = 0; pages.at(-1)?.atHead !== true; after = pages.at(-1)?.end ?? 0)
    pages.push(read(after, limit));
  return pages;
}

const placesOf = (events: readonly LogEvent[]): readonly string[] =>
  events.map(({ stream, revision, position }) => `${stream}@${revision} at ${Number(position)}`);

for (const [limit, windowMax] of [
  [1, 1_000],
  [2, 3],
  [1_000, 5],
  [1_000, 1_000],
] as const) {
  test(`Pages of ${limit} events, from ${windowMax} sequences at once, hold a category in the order of the log`, async (t) => {
    const connection = opening(t, await givenLog(t, 3));
    const pages = pagesOf(connection, 'book', { limit, windowMax });
    t.deepEqual(placesOf(pages.flatMap(({ events }) => events)), [
      'book-a@0 at 1',
      'book-b@0 at 3',
      'book-a@1 at 5',
      'book-b@1 at 7',
      'book-a@2 at 9',
      'book-b@2 at 11',
    ]);
    t.true(pages.every(({ events }) => events.length <= limit));
    t.is(pages.at(-1)?.end, 12, 'the last event of the log is of another category');
    t.deepEqual(
      pages.slice(0, -1).filter(({ atHead }) => atHead),
      [],
    );
  });
}

test('A category without events reaches the head of the log in one page', async (t) => {
  const connection = opening(t, await givenLog(t, 1));
  t.deepEqual(pagesOf(connection, 'film', { limit: 10 }), [{ events: [], end: 4, atHead: true, bytes: 0 }]);
});

test('A page of large events ends with the event that reaches 2 MiB', async (t) => {
  const text = 'x'.repeat(200 * 1024);
  const connection = opening(t, await givenLog(t, 12, text));
  const [page, ...others] = pagesOf(connection, 'book', { limit: 1_000 });
  const bytes = page?.bytes ?? 0;
  t.true(bytes >= logPageBytesMax && bytes < logPageBytesMax + text.length + 1_024, String(bytes));
  t.is(
    others.reduce((sum, { events }) => sum + events.length, page?.events.length ?? 0),
    24,
  );
});

const damages = {
  'an event of the category is gone': 'DELETE FROM events WHERE sequence = 5',
  'an event of another category is gone': 'DELETE FROM events WHERE sequence = 6',
  'a stream of the category ends later than its events':
    "UPDATE streams SET revision = 9 WHERE stream = 'stowage.book-a'",
  'an event has moved to another category': "UPDATE events SET stream = 'stowage.film-a' WHERE sequence = 5",
  'events have swapped categories': `UPDATE events SET stream = 'stowage.film-a' WHERE sequence = 5;
    UPDATE events SET stream = 'stowage.book-a' WHERE sequence = 6`,
  'the content of an event has changed':
    "UPDATE events SET content = replace(content, '1', '2') WHERE sequence = 5",
};
for (const [what, sql] of Object.entries(damages)) {
  test(`A reader of a category finds the damage when ${what}`, async (t) => {
    const path = await givenLog(t, 3);
    change(path, sql);
    const connection = opening(t, path);
    t.throws(() => pagesOf(connection, 'book', { limit: 10 }), {
      instanceOf: StoreDamaged,
      message: /restore events\.db from a backup/,
    });
  });
}

test('A row that goes missing while a category is read is damage', async (t) => {
  const path = await givenLog(t, 3);
  const connection = opening(t, path);
  const options = { category: 'book', streamPrefix };
  const read = makeCategoryReader(connection, makeEventReader(connection), options);
  t.is(read(0, 2).events.length, 2);
  change(path, 'DELETE FROM events WHERE sequence = 7');
  t.throws(() => read(3, 10), { instanceOf: StoreDamaged, message: /sequence 7 is missing/ });
});

test('A reader that has passed the end of the log meets an older log', async (t) => {
  const connection = opening(t, await givenLog(t, 1));
  const read = makeCategoryReader(connection, makeEventReader(connection), {
    category: 'book',
    streamPrefix,
  });
  t.throws(() => read(5, 10), { instanceOf: StoreDamaged, message: /replaced by an older one/ });
  t.deepEqual(read(4, 10), { events: [], end: 4, atHead: true, bytes: 0 });
});
