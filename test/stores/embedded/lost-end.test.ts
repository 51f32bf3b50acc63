import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import { makeEventWriter } from '../../../src/stores/embedded/log/event-writer.js';
import { eventsFormat } from '../../../src/stores/embedded/files/formats.js';
import { openHighWaterMark } from '../../../src/stores/embedded/files/high-water-mark.js';
import { openWriter } from '../../../src/stores/embedded/files/prepare-file.js';
import { makeTransactions } from '../../../src/stores/embedded/writing/transactions.js';
import { makeEvent } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import {
  givenDirectory,
  makeDirectory,
  openLog,
  openState,
  openStores,
} from '../../support/servers/embedded-directory.js';

// SQLite treats a damaged frame of its write-ahead log as the end of that log, so the stores must detect a missing end.

type File = 'events.db' | 'state.db';

/** One file of a directory; as few of the other files as possible are open. */
interface OpenedFile {
  /** Writes something under this name and waits for the acknowledgement. */
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
    const documents = await openState(directory);
    return {
      add: (name) => documents.stateStore.compareAndSet(`key/${name}`, null, { wrapped: 'a key' }),
      has: async (name) => (await documents.stateStore.get(`key/${name}`)) !== null,
      close: () => documents.close(),
    };
  },
};

/** The files that a killed process leaves behind: their content while the stores are open. */
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

/** The state after `kill -9`: four acknowledged appends and four acknowledged records, all in the `-wal` files. */
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

test.after.always(() => killed.remove());

/** Makes a directory with the files of the killed process. */
function givenKilled(t: ExecutionContext): string {
  const directory = givenDirectory(t);
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
  'a flipped bit in the checksum of a frame': (wal) => flipBit(wal, (bytes) => middleFrame(bytes) + 16),
  'a write-ahead log that was cut off': (wal) => truncateSync(wal, lastFrame(readFileSync(wal)) + 2_000),
};

const marksThatCostNothing = [null, '', '0000000000000001 d5075bf2'];
const damagedMarks = ['0000000000000001 00000000', '000000000000000', 'x'.repeat(25), 'x'.repeat(60)];

// The same code guards both files, so one case of each kind shows that it guards state.db too.
for (const [file, cases] of [
  ['events.db', Infinity],
  ['state.db', 1],
] as const) {
  const open = openers[file];

  for (const [what, damage] of Object.entries(losses).slice(0, cases)) {
    test.serial(`${file}: the start detects ${what} and loses no acknowledged data`, async (t) => {
      // Given the files of a killed process
      const directory = givenKilled(t);
      // When their end is damaged
      damage(join(directory, `${file}-wal`));
      // Then the start refuses the file and says what to do, and so does the next start
      await refuses(t, directory, file);
      await refuses(t, directory, file);
    });
  }

  test.serial(`${file}: a copy without its write-ahead log is refused`, async (t) => {
    // Given a directory with all data in the database itself, and a later version of it
    const directory = givenKilled(t);
    await (await open(directory)).close();
    const older = readFileSync(join(directory, file));
    const opened = await open(directory);
    await opened.add('later');
    await opened.close();
    // When the older file replaces the later one
    writeFileSync(join(directory, file), older);
    // Then the start refuses it until the mark is empty
    await refuses(t, directory, file);
    writeFileSync(join(directory, `${file}.mark`), '');
    await (await open(directory)).close();
  });

  test.serial(`${file}: a copy of the file alone, taken while a service wrote it, is refused`, async (t) => {
    // Given the file of a running service, without what stands beside it
    const directory = givenDirectory(t);
    cpSync(join(killed.directory, file), join(directory, file));
    // When it is opened, then it is refused each time
    for (let start = 0; start < 2; start += 1) {
      await t.throwsAsync(open(directory), {
        instanceOf: StoreDamaged,
        message: new RegExp(`^${file} is damaged: it was copied without its ${file}-wal`),
      });
    }
  });

  test.serial(`${file}: a copy of the file alone, taken after the service has ended, is whole`, async (t) => {
    const ended = givenKilled(t);
    await (await open(ended)).close();
    const directory = givenDirectory(t);
    cpSync(join(ended, file), join(directory, file));
    const opened = await open(directory);
    t.true(await opened.has('3'));
    await opened.close();
  });

  test.serial(`${file}: a mark that is behind, empty or missing loses no data`, async (t) => {
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

  test.serial(`${file}: the error for a damaged mark names the mark`, async (t) => {
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

test.serial(
  'A log refuses a state that is older than its last append, or missing, and takes a newer one',
  async (t) => {
    // Given a directory, and state and log of an earlier moment
    const directory = givenDirectory(t);
    const write = async (name: string): Promise<void> => {
      const stores = await openStores(directory);
      await stores.stateStore.compareAndSet(`key/${name}`, null, { wrapped: 'a key' });
      await stores.eventStore.append(`thing-${name}`, 'no-stream', [makeEvent()]);
      await stores.close();
    };
    await write('one');
    const earlier = ['state.db', 'events.db'].map(
      (name) => [name, readFileSync(join(directory, name))] as const,
    );
    await write('two');
    const newer = readFileSync(join(directory, 'state.db'));
    const refusesState = (message: RegExp) =>
      t.throwsAsync(openStores(directory), { instanceOf: StoreDamaged, message });
    // When the state is the earlier one, or missing, then each start is refused, and no advice makes it worse
    for (const [name, bytes] of earlier) {
      if (name !== 'state.db') continue;
      writeFileSync(join(directory, name), bytes);
      rmSync(join(directory, `${name}.mark`));
      for (let start = 0; start < 2; start += 1) {
        const error = await refusesState(/^state\.db is older than events\.db: .* from one backup/);
        t.notRegex(error.message, /delete|empty/i);
      }
    }
    for (const name of ['state.db', 'state.db.mark', 'state.db-wal'])
      rmSync(join(directory, name), { force: true });
    await refusesState(/^state\.db is missing or empty: it ends at 0/);
    // When the log is the earlier one beside the newer state, then the start succeeds
    writeFileSync(join(directory, 'state.db'), newer);
    for (const [name, bytes] of earlier) {
      if (name !== 'events.db') continue;
      writeFileSync(join(directory, name), bytes);
      rmSync(join(directory, `${name}.mark`));
    }
    const stores = await openStores(directory);
    t.not(await stores.stateStore.get('key/two'), null);
    await stores.close();
  },
);

test.serial('A changed byte in a record of the state ends the process soon after the start', async (t) => {
  // Given a state whose record has another key than the one that was written
  const directory = givenKilled(t);
  await (await openState(directory)).close();
  const path = join(directory, 'state.db');
  flipBit(path, (bytes) => bytes.indexOf('key/2') + 4);
  // When the state is opened, and no call reads the record
  const reported: Error[] = [];
  const opened = await openState(directory, {
    onFatal: (error) => reported.push(error),
  });
  t.teardown(() => opened.close());
  // The check keeps no process alive, so the test does.
  await eventually('the damage is reported', () => reported.length > 0);
  // Then the damage is reported
  t.regex(String(reported[0]), /state\.db is damaged: a record does not match its checksum/);
});

test.serial('The files of a killed process open with all their data and accept further writes', async (t) => {
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
  t.regex(error.message, new RegExp(`restore ${file} from a backup.*${withoutBackup[file]}`));
}

/** What the sentence says for the case that there is no newer backup. */
const withoutBackup: Readonly<Record<File, string>> = {
  'events.db': 'empty events\\.db\\.mark',
  'state.db': 'Restore events\\.db and state\\.db from one backup\\.$',
};

test.serial(
  'A mark that cannot be written is a disk failure: the append is not acknowledged and the error says why',
  (t) => {
    // Given a log whose commits succeed, on a disk that fails right after them
    const directory = givenDirectory(t);
    const connection = openWriter(join(directory, 'events.db'), eventsFormat);
    t.teardown(() => connection.close());
    const failing = {
      raise: () => writeTo('/dev/full'),
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
    // When an event is appended
    const outcome = append([['stowage.thing-1', -1n, null, 'id', '{}']]);
    // Then the outcome is an error of the disk, which ends the use of the file
    t.like(outcome, { kind: 'failed', failure: { kind: 'io' } });
    t.regex(JSON.stringify(outcome), /\/dev\/full cannot be read or written \(ENOSPC\); check the disk/);
  },
);

/** Writes a mark to a device on which every write fails. */
function writeTo(path: string): void {
  openHighWaterMark(path, eventsFormat, 1).close();
}
