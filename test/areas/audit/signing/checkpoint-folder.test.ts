import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';

import { makeCheckpointFolder } from '../../../../src/areas/audit/signing/checkpoint-folder.js';
import { leafHash } from '../../../../src/areas/audit/tree/merkle.js';
import { checkpointText, makeNoteSigner, noteOf } from '../../../../src/areas/audit/tree/note.js';
import { auditSeed } from '../../../support/audit/audit-scene.js';

const origin = 'stowage/00000000-0000-4000-8000-000000000001';

function given(t: ExecutionContext) {
  const path = mkdtempSync(join(tmpdir(), 'stowage-checkpoints-'));
  t.teardown(() => {
    rmSync(path, { recursive: true });
  });
  const folder = makeCheckpointFolder(path);
  const write = (size: number, leaf = 'a'): Promise<void> => {
    const text = checkpointText({ origin, size, root: leafHash(leaf) });
    return folder.write({ origin, size }, noteOf(text, [makeNoteSigner(origin, auditSeed).sign(text)]));
  };
  const filesOf = (): string => join(path, readdirSync(path)[0] ?? '');
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
