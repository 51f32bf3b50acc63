import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';

import {
  checkpointPaths,
  makeCheckpointFolder,
  outsidePath,
} from '../../../../src/areas/audit/signing/checkpoint-folder.js';
import { leafHash } from '../../../../src/areas/audit/tree/merkle.js';
import { checkpointText, makeNoteSigner, noteOf } from '../../../../src/areas/audit/tree/note.js';
import { auditSeed } from '../../../support/audit/audit-scene.js';
import { origin } from '../../../support/given/audit-signing.js';

function given(t: ExecutionContext, choose = outsidePath) {
  const path = mkdtempSync(join(tmpdir(), 'stowage-checkpoints-'));
  t.teardown(() => rmSync(path, { recursive: true }));
  const folder = makeCheckpointFolder(choose(path));
  const write = (size: number, leaf = 'a'): Promise<void> => {
    const text = checkpointText({ origin, size, root: leafHash(leaf) });
    return folder.write({ origin, size }, noteOf(text, [makeNoteSigner(origin, auditSeed).sign(text)]));
  };
  const filesOf = (): string => join(choose(path).path, readdirSync(choose(path).path)[0] ?? '');
  return { folder, write, filesOf };
}

test('The newest checkpoint is that of the largest size, and a written one is never changed', async (t) => {
  const { folder, write, filesOf } = given(t);
  t.is(await folder.newest(origin), null);
  for (const size of [9, 10, 2]) await write(size);
  t.is((await folder.newest(origin))?.size, 10);
  await write(10, 'another');
  t.deepEqual((await folder.newest(origin))?.root, leafHash('a'));
  t.is(readdirSync(filesOf()).length, 3);
  t.is(await folder.newest(`${origin}/restarted`), null);
});

test('A checkpoint under the name of another size is refused with its file', async (t) => {
  const { folder, write, filesOf } = given(t);
  await write(10);
  const [name = ''] = readdirSync(filesOf());
  cpSync(join(filesOf(), name), join(filesOf(), '11'.padStart(20, '0')));
  await t.throwsAsync(folder.newest(origin), { name: 'FolderProblem', message: /0{18}11 is no checkpoint/ });
});

for (const [where, source, count] of [
  ['The folder in the data directory', 'folder', 10],
  ['The folder beside the keys', 'keys', 1],
] as const) {
  test(`${where} keeps the newest ${count} of an origin`, async (t) => {
    const { folder, write, filesOf } = given(t, (path) => {
      const keyFile = join(path, 'keys.json');
      const places = checkpointPaths({ directory: undefined, dataDirectory: path, keyFile });
      return places.find((place) => place.source === source) ?? outsidePath(path);
    });
    for (let size = 1; size <= 12; size += 1) await write(size);
    const kept = readdirSync(filesOf()).map(Number);
    t.deepEqual(
      kept.sort((a, b) => a - b),
      Array.from({ length: count }, (_, place) => 13 - count + place),
    );
    t.is((await folder.newest(origin))?.size, 12);
  });
}

test.serial(
  'A folder that keeps all checkpoints is listed only after a change by another process',
  async (t) => {
    const { folder, write, filesOf } = given(t);
    const { readdir } = promises;
    let lists = 0;
    promises.readdir = ((...args: Parameters<typeof readdir>) => {
      if (args[0] === filesOf()) lists += 1;
      return readdir(...args);
    }) as typeof readdir;
    syncBuiltinESMExports();
    t.teardown(() => {
      promises.readdir = readdir;
      syncBuiltinESMExports();
    });
    for (let size = 1; size <= 20; size += 1) {
      await write(size);
      t.is((await folder.newest(origin))?.size, size);
    }
    t.is(lists, 1);
    // When another process removes one
    rmSync(join(filesOf(), '20'.padStart(20, '0')));
    t.is((await folder.newest(origin))?.size, 19);
    t.is(lists, 2);
  },
);

test('A configured folder takes the place of the one in the data directory, and read keys get no copy', (t) => {
  const places = checkpointPaths({ directory: '/mnt/worm', dataDirectory: '/data', keyFile: null });
  t.deepEqual(
    places.map(({ source, path, newest }) => [source, path, newest]),
    [['folder', '/mnt/worm', Infinity]],
  );
});
