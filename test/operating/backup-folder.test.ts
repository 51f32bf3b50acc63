import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs, { readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { StoreDamaged, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import {
  type BackupContent,
  fillFolder,
  formatManifest,
  readManifest,
  syncPath,
  verifyBackup,
} from '../../src/operating/backup/backup-folder.js';
import { givenDirectory } from '../support/servers/embedded-directory.js';

const text = 'the events';
const content: BackupContent = {
  ...{ format: 1, made_at: '2026-01-01T00:00:00Z', service_version: '1.0.0', log_id: 'a log' },
  ...{ position: '7', events: 7, records: 3, state_version: 1, keys: ['MASTER_KEYS'], keys_apart: [] },
  files: [{ name: 'events.db', bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') }],
};

/** Given a whole backup of one file. */
function given(t: ExecutionContext) {
  const folder = givenDirectory(t);
  const [manifest, events] = [join(folder, 'manifest.json'), join(folder, 'events.db')];
  writeFileSync(manifest, formatManifest(content));
  writeFileSync(events, text);
  const refused = (message: RegExp, hint = '') =>
    t.throws(() => readManifest(folder), { instanceOf: StoreDamaged, message }, hint);
  return { folder, manifest, events, refused };
}

test('A manifest that is cut off at any byte, or changed, is refused', (t) => {
  const { folder, manifest, refused } = given(t);
  t.deepEqual(readManifest(folder), content);
  const whole = formatManifest(content);
  for (let length = whole.length - 1; length >= 0; length -= 1) {
    truncateSync(manifest, length);
    refused(/manifest\.json is cut off or changed/, String(length));
  }
  for (const changed of [
    whole.replace('"events": 7', '"events": 1'),
    whole.replace('"events": 7', '"events":7'),
  ]) {
    writeFileSync(manifest, changed);
    refused(/manifest\.json is changed/);
  }
});

test('A manifest of another release, or none, is refused', (t) => {
  const { manifest, refused } = given(t);
  for (const other of [{ ...content, format: 2 }, { ...content, more: true }, { format: 1 }]) {
    writeFileSync(manifest, formatManifest(other as never));
    refused(/manifest\.json is not one of this release/);
  }
  rmSync(manifest);
  refused(/manifest\.json cannot be read \(ENOENT\)/);
});

test('A file that differs from the manifest is refused, and named', async (t) => {
  const { folder, events } = given(t);
  const read: number[] = [];
  t.deepEqual(await verifyBackup(folder, (bytes) => read.push(bytes)), content);
  t.deepEqual(read, [text.length]);
  const refused = (message: RegExp) =>
    t.throwsAsync(
      verifyBackup(folder, () => undefined),
      { instanceOf: StoreDamaged, message },
    );
  writeFileSync(events, text.toUpperCase());
  await refused(/events\.db differs from its digest/);
  truncateSync(events, 3);
  await refused(/events\.db has 3 bytes and had 10/);
  rmSync(events);
  await refused(/events\.db is missing/);
});

test('A file and a directory are synced, and a missing one is an error', (t) => {
  const { folder, events } = given(t);
  const paths = [events, folder];
  const synced: number[] = [];
  const { fsyncSync } = fs;
  fs.fsyncSync = (descriptor) => {
    synced.push(fs.fstatSync(descriptor).ino);
    fsyncSync(descriptor);
  };
  syncBuiltinESMExports();
  try {
    for (const path of paths) syncPath(path);
  } finally {
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  }
  t.deepEqual(
    synced,
    paths.map((path) => fs.statSync(path).ino),
  );
  t.throws(() => syncPath(join(folder, 'missing')), { code: 'ENOENT' });
});

test('A folder that cannot be filled leaves nothing, and a failure of the disk is a sentence', async (t) => {
  const parent = givenDirectory(t);
  const target = join(parent, 'copy');
  const defect = new Error('a defect');
  await t.throwsAsync(
    fillFolder(target, () => Promise.reject(defect)),
    { is: defect },
  );
  await t.throwsAsync(
    fillFolder(target, (partial) => {
      readFileSync(join(partial, 'missing'));
      return Promise.resolve();
    }),
    { instanceOf: StoreUnavailable, message: /copy cannot be written \(ENOENT\)/ },
  );
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  await t.throwsAsync(
    fillFolder(target, () => Promise.reject(full)),
    { instanceOf: StoreUnavailable, message: /copy cannot be written \(SQLITE_FULL\)/ },
  );
  t.deepEqual(readdirSync(parent), []);
  // One that is filled has its name
  await fillFolder(target, (partial) => {
    writeFileSync(join(partial, 'file'), 'a');
    return Promise.resolve();
  });
  t.deepEqual(readdirSync(target), ['file']);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`A process that ${signal} ends while it fills a folder leaves no copy of keys`, async (t) => {
    const parent = givenDirectory(t);
    const child = fork(new URL('./interrupted-fill.js', import.meta.url), [join(parent, 'copy')]);
    await once(child, 'message');
    t.is(readdirSync(parent).length, 1);
    const ended = once(child, 'exit');
    child.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.deepEqual(readdirSync(parent), []);
  });
}

test('A later folder removes what a killed process left, and nothing that a process still fills', async (t) => {
  // Given a process that fills a folder with keys
  const parent = givenDirectory(t);
  const child = fork(new URL('./interrupted-fill.js', import.meta.url), [join(parent, 'first')]);
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'message');
  const [left = ''] = readdirSync(parent);
  const fill = (name: string) =>
    fillFolder(join(parent, name), (partial) => {
      writeFileSync(join(partial, 'file'), 'a');
      return Promise.resolve();
    });
  // When other folders are made, then it goes on, and its name is refused to them
  await fill('second');
  await t.throwsAsync(fill('first'), { instanceOf: StoreUnavailable, message: /in use by another process/ });
  t.deepEqual(readdirSync(parent).sort(), [left, 'second'].sort());
  // When it is killed, then the next folder removes what it left
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  t.true(readdirSync(parent).includes(left));
  await fill('third');
  t.deepEqual(readdirSync(parent).sort(), ['second', 'third']);
});
