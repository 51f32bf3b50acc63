import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { StoreDamaged } from '../../src/event-sourcing/errors.js';
import { makeEventWriter } from '../../src/stores/embedded/event-writer.js';
import { eventsFormat } from '../../src/stores/embedded/formats.js';
import { openHighWaterMark } from '../../src/stores/embedded/high-water-mark.js';
import { openWriter } from '../../src/stores/embedded/prepare-file.js';
import { makeTransactions } from '../../src/stores/embedded/transactions.js';
import { makeEvent } from '../contracts/event-store-fixtures.js';
import { makeDirectory, openDocuments, openLog, openStores } from '../support/embedded-directory.js';

// SQLite takes a damaged frame of its write-ahead log for the log's end, so an end that is missing must be noticed by us.

type File = 'events.db' | 'state.db';

/** One file of a directory, opened with no more of the others than must be. */
interface OpenedFile {
  /** Acknowledges something of this name. */
  add(name: string): Promise<unknown>;
  has(name: string): Promise<boolean>;
  close(): Promise<void>;
}

const openers: Readonly<Record<File, (directory: string) => Promise<OpenedFile>>> = {
  'events.db': async (directory) => {
    const log = await openLog(directory);
    return {
      add: (name) => log.eventStore.append(`thing-${name}`, 'no-stream', [makeEvent()]),
      has: async (name) => (await log.eventStore.read(`thing-${name}`)).length === 1,
      close: () => log.close(),
    };
  },
  'state.db': async (directory) => {
    const documents = await openDocuments(directory);
    return {
      add: (name) => documents.stateStore.compareAndSet(`key/${name}`, null, { wrapped: 'a key' }),
      has: async (name) => (await documents.stateStore.get(`key/${name}`)) !== null,
      close: () => documents.close(),
    };
  },
};

/** What a killed process leaves behind: the files as they stand while the stores are open. */
const leftBehind = [
  'events.db',
  'events.db-wal',
  'events.db.mark',
  'state.db',
  'state.db-wal',
  'state.db.mark',
];
const walHeaderBytes = 32;
const walFrameBytes = 24 + 4_096;

const killed = makeDirectory();

/** As after `kill -9`: four acknowledged appends and four acknowledged records, all of them in the `-wal` files. */
test.before(async () => {
  const { directory, remove } = makeDirectory();
  const stores = await openStores(directory);
  for (let round = 0; round < 4; round += 1) {
    await stores.eventStore.append(`thing-${round}`, 'no-stream', [makeEvent()]);
    await stores.stateStore.compareAndSet(`key/${round}`, null, { wrapped: 'a key' });
  }
  for (const name of leftBehind) cpSync(join(directory, name), join(killed.directory, name));
  await stores.close();
  remove();
});

test.after.always(() => {
  killed.remove();
});

/** A directory with what the killed process left. */
function givenKilled(t: ExecutionContext): string {
  const { directory, remove } = makeDirectory();
  t.teardown(remove);
  cpSync(killed.directory, directory, { recursive: true });
  return directory;
}

function flipBit(path: string, place: (bytes: Buffer) => number): void {
  const bytes = readFileSync(path);
  const at = place(bytes);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

const lastFrame = (bytes: Buffer): number => bytes.length - walFrameBytes;
const middleFrame = (bytes: Buffer): number =>
  walHeaderBytes + Math.floor((bytes.length - walHeaderBytes) / walFrameBytes / 2) * walFrameBytes;

const losses: Readonly<Record<string, (wal: string) => void>> = {
  'a flipped bit in the last page that was written': (wal) => {
    flipBit(wal, (bytes) => lastFrame(bytes) + 1_000);
  },
  'a flipped bit in the middle of the write-ahead log': (wal) => {
    flipBit(wal, (bytes) => middleFrame(bytes) + 1_000);
  },
  'a flipped bit in the checksum of a frame': (wal) => {
    flipBit(wal, (bytes) => middleFrame(bytes) + 16);
  },
  'a write-ahead log that was cut off': (wal) => {
    truncateSync(wal, lastFrame(readFileSync(wal)) + 2_000);
  },
};

const marksThatCostNothing = [null, '', '0000000000000001 d5075bf2'];
const damagedMarks = ['0000000000000001 00000000', '000000000000000', 'x'.repeat(25), 'x'.repeat(60)];

// One and the same code watches both files: a case of each kind shows that it watches state.db too.
for (const [file, cases] of [
  ['events.db', Infinity],
  ['state.db', 1],
] as const) {
  const open = openers[file];

  for (const [what, damage] of Object.entries(losses).slice(0, cases)) {
    test.serial(`${file}: ${what} hides nothing that was acknowledged`, async (t) => {
      // Given what a killed process left
      const directory = givenKilled(t);
      // When its end is damaged
      damage(join(directory, `${file}-wal`));
      // Then it is not opened, and the sentence says what to do; and the next start gets as far
      await refuses(t, directory, file);
      await refuses(t, directory, file);
    });
  }

  test.serial(`${file}: a copy without its write-ahead log is not taken for whole`, async (t) => {
    // Given a directory in which everything stands in the database itself, and one that went on from there
    const directory = givenKilled(t);
    await (await open(directory)).close();
    const older = readFileSync(join(directory, file));
    const opened = await open(directory);
    await opened.add('later');
    await opened.close();
    // When the older file is put in its place
    writeFileSync(join(directory, file), older);
    // Then it is refused until the mark is deleted, as the sentence says
    await refuses(t, directory, file);
    rmSync(join(directory, `${file}.mark`));
    await (await open(directory)).close();
  });

  test.serial(`${file}: a mark that is behind, empty or missing costs nothing`, async (t) => {
    for (const mark of marksThatCostNothing.slice(0, cases)) {
      const directory = givenKilled(t);
      const path = join(directory, `${file}.mark`);
      const before = readFileSync(path, 'latin1');
      if (mark === null) rmSync(path);
      else writeFileSync(path, mark);
      const opened = await open(directory);
      t.true(await opened.has('3'));
      await opened.close();
      t.is(readFileSync(path, 'latin1'), before);
    }
  });

  test.serial(`${file}: a damaged mark is said to be one`, async (t) => {
    for (const mark of damagedMarks.slice(0, cases)) {
      const directory = givenKilled(t);
      writeFileSync(join(directory, `${file}.mark`), mark);
      await t.throwsAsync(open(directory), {
        instanceOf: StoreDamaged,
        message: new RegExp(`${file}\\.mark is damaged\\. Delete it`),
      });
    }
  });
}

test.serial('what a killed process left is opened whole, and goes on', async (t) => {
  const directory = givenKilled(t);
  const stores = await openStores(directory);
  t.is((await stores.eventStore.append('thing-3', 0n, [makeEvent()]))?.position, '0000000000000005');
  t.not(await stores.stateStore.get('key/3'), null);
  await stores.close();
  t.regex(readFileSync(join(directory, 'events.db.mark'), 'latin1'), /^0{15}5 /);
});

async function refuses(t: ExecutionContext, directory: string, file: File): Promise<void> {
  const error = await t.throwsAsync(openers[file](directory), { instanceOf: StoreDamaged });
  t.regex(error.message, new RegExp(`^${file} is damaged: it ends at \\d and had reached \\d`));
  t.regex(error.message, new RegExp(`restore ${file} from a backup.*delete ${file}\\.mark`));
}

test.serial(
  'a mark that cannot be written is a failed disk: nothing is acknowledged, and it is said why',
  (t) => {
    // Given a log whose commits succeed, on a disk that fails right after them
    const { directory, remove } = makeDirectory();
    t.teardown(remove);
    const connection = openWriter(join(directory, 'events.db'), eventsFormat);
    t.teardown(() => {
      connection.close();
    });
    const failing = {
      raise: () => {
        writeTo('/dev/full');
      },
      close: () => undefined,
    };
    const append = makeTransactions(
      {
        connection,
        format: eventsFormat,
        intercept: (_, effect) => effect(),
        openMark: () => failing,
      },
      (...made) => makeEventWriter(...made, 'the-log'),
    );
    // When something is appended
    const outcome = append([['stowage.thing-1', -1n, 'id', '{}']]);
    // Then its outcome is an error of the disk, which ends the use of the file
    t.like(outcome, { kind: 'failed', failure: { kind: 'io' } });
    t.regex(JSON.stringify(outcome), /\/dev\/full cannot be read or written \(ENOSPC\); check the disk/);
  },
);

/** What no write succeeds on, where the system has one. */
function writeTo(path: string): void {
  openHighWaterMark(path, eventsFormat, 1).close();
}
