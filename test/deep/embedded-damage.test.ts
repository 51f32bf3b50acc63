import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { makeEventReader } from '../../src/stores/embedded/log/event-reader.js';
import { encodeContent } from '../../src/stores/embedded/log/event-rows.js';
import { makeEventWriter } from '../../src/stores/embedded/log/event-writer.js';
import { failureOf } from '../../src/stores/embedded/files/failures.js';
import { eventsFormat } from '../../src/stores/embedded/files/formats.js';
import { openHighWaterMark } from '../../src/stores/embedded/files/high-water-mark.js';
import { openWriter } from '../../src/stores/embedded/files/prepare-file.js';
import { makeTransactions } from '../../src/stores/embedded/writing/transactions.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { givenDirectory } from '../support/servers/embedded-directory.js';
import { testFlippedReadModels } from '../support/simulation/flipped-read-models.js';

const seed = Number(process.env['DEEP_SEED'] ?? 1);
const flips = Math.ceil(3_000 * Number(process.env['DEEP_BUDGET'] ?? 1));
const walFlips = Math.ceil(flips / 10);
const streams = Array.from({ length: 60 }, (_, number) => `stowage.thing-${number}`);

test(`${flips} times one flipped bit in events.db (seed ${seed}) leaves every read unchanged or reported as damage`, (t) => {
  const directory = givenDirectory(t);
  const path = join(directory, 'original.db');
  const original = writeLog(path);
  const found = flipBits(t, {
    ...{
      directory,
      files: new Map([['', original]]),
      flipped: '',
      count: flips,
      expected: readEverything(path),
    },
    // The first two pages hold the header, the schema and the log's own row. They get a fifth of the flips.
    rangeOf: (flip) => (flip % 5 === 0 ? 8_192 : original.length),
  });
  t.true(found.damaged > flips / 10 && found.unchanged > flips / 10);
});

test(`${walFlips} times one flipped bit in the write-ahead log of a killed process (seed ${seed}) hide no event`, (t) => {
  const directory = givenDirectory(t);
  const path = join(directory, 'original.db');
  const files = new Map<string, Buffer>();
  writeLog(path, () => {
    for (const suffix of ['', '-wal', '.mark']) files.set(suffix, readFileSync(path + suffix));
  });
  const found = flipBits(t, {
    ...{ directory, files, flipped: '-wal', count: walFlips, expected: readEverything(path) },
    rangeOf: (_, length) => length,
  });
  t.true(found.damaged > walFlips / 2);
});

/** Copies the files of a log, by suffix, with one flipped bit, again and again. Each copy reads as before, or as damaged. */
function flipBits(
  t: ExecutionContext,
  log: {
    readonly directory: string;
    readonly files: ReadonlyMap<string, Buffer>;
    /** The suffix of the file with the flipped bit. */
    readonly flipped: string;
    readonly count: number;
    readonly expected: string;
    /** Returns the number of bytes from which the bit is drawn. */
    readonly rangeOf: (flip: number, length: number) => number;
  },
) {
  t.timeout(30 * 60_000);
  const random = makeSeededRandom(seed);
  const found = { unchanged: 0, damaged: 0 };
  for (let flip = 0; flip < log.count; flip += 1) {
    const path = join(log.directory, `${flip}.db`);
    for (const [suffix, bytes] of log.files) writeFileSync(path + suffix, bytes);
    const bytes = Buffer.from(log.files.get(log.flipped) ?? []);
    const bit = Math.floor(random() * log.rangeOf(flip, bytes.length) * 8);
    bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    writeFileSync(path + log.flipped, bytes);
    try {
      if (readEverything(path) !== log.expected) t.fail(`bit ${bit}: a read returned other data`);
      found.unchanged += 1;
    } catch (error) {
      if (failureOf(error, eventsFormat)?.kind !== 'damaged') t.fail(`bit ${bit}: ${String(error)}`);
      found.damaged += 1;
    }
    for (const suffix of ['', '-wal', '-shm', '.mark']) rmSync(path + suffix, { force: true });
  }
  t.log(JSON.stringify(found));
  return found;
}

testFlippedReadModels(test, walFlips, seed);

/**
 * Makes a log of streams with three events each, and returns the content of its file. `whileOpen` runs before the log
 * is closed.
 */
function writeLog(path: string, whileOpen: () => void = () => undefined): Buffer {
  const connection = openWriter(path, eventsFormat);
  const append = makeTransactions(
    {
      connection,
      format: eventsFormat,
      intercept: (_, effect) => effect(),
      openMark: (end) => openHighWaterMark(`${path}.mark`, eventsFormat, end),
    },
    (...made) => makeEventWriter(...made, 'the-log'),
  );
  for (const stream of streams) {
    const events = [0, 1, 2].flatMap((index) => {
      const id = `${stream}/${index}`;
      const data = JSON.stringify({ stream, index, text: 'é'.repeat(index * 40) });
      const json = { stream: JSON.stringify(stream), metadata: '{}', data };
      return [id, encodeContent({ id, type: 'ThingHappened@1' }, json, '2026-01-02T03:04:05.000Z')];
    });
    append([[stream, -1n, null, ...events]]);
  }
  whileOpen();
  connection.execute('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
  return readFileSync(path);
}

/** Opens the file as the store does and reads all of it: the log's id, the whole log, and each stream. */
function readEverything(path: string): string {
  const connection = openWriter(path, eventsFormat);
  try {
    const { end } = makeEventWriter(connection, (sql) => connection.statement(sql), 'new');
    openHighWaterMark(`${path}.mark`, eventsFormat, end?.() ?? 0).close();
    const reader = makeEventReader(connection);
    const log = [];
    for (let page = reader.readLog(0, 50, ''); ; page = reader.readLog(page.end, 50, '')) {
      log.push(...page.events);
      if (page.atHead) break;
    }
    const answers = [
      reader.logId,
      log,
      [...streams, 'absent'].map((stream) => reader.readStream(stream, 0n, 500)),
    ];
    return JSON.stringify(answers, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  } finally {
    connection.close();
  }
}
