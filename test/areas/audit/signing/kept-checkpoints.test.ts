import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { signedRecord } from '../../../../src/areas/audit/signing/audit-records.js';
import { makeCheckpointFolder, outsidePath } from '../../../../src/areas/audit/signing/checkpoint-folder.js';
import { makeSigner } from '../../../../src/areas/audit/signing/signer.js';
import { leafHash } from '../../../../src/areas/audit/tree/merkle.js';
import { auditSeed } from '../../../support/audit/audit-scene.js';
import { givenDirectory } from '../../../support/directories.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../../support/fakes/memory-state-store.js';
import { partial } from '../../../support/fakes/partial.js';

/** A checkpoint: its size, the leaf that stands for its log, and the restart that it follows. */
type Checkpoint = readonly [size: number, leaf: string, restart: string | null];
const ten: Checkpoint = [10, 'a', null];

/**
 * What a folder has, what the state has as the last checkpoint, and whether a checkpoint of ten events, which another process has
 * signed, is written to the folder.
 */
const rows: Readonly<Record<string, readonly [kept: Checkpoint | null, latest: Checkpoint | null, boolean]>> =
  {
    'an empty folder': [null, ten, true],
    'the same checkpoint': [ten, ten, true],
    'a smaller checkpoint, which has another root': [[9, 'b', null], ten, true],
    'a checkpoint of the same size with another root': [[10, 'b', null], ten, false],
    'a larger checkpoint than any that the state has': [[11, 'b', null], ten, false],
    'a larger checkpoint, where the state is empty': [[11, 'b', null], null, false],
    'a larger checkpoint that was signed meanwhile': [[11, 'b', null], [11, 'b', null], true],
    'a larger checkpoint, while the log has begun another origin': [[11, 'b', null], [3, 'c', 'r'], true],
  };

function given(t: ExecutionContext) {
  const stateStore = makeMemoryStateStore({ clock: makeTestClock() });
  const path = givenDirectory(t);
  const folder = makeCheckpointFolder(outsidePath(path));
  const signer = makeSigner({
    ...partial<Parameters<typeof makeSigner>[0]>({ tree: partial({}), pages: partial({}) }),
    ...{ stateStore, folders: [folder], seeds: () => [auditSeed], clock: makeTestClock() },
  });
  const signed = ([size, leaf, restart]: Checkpoint) =>
    signer.draft({ logId: 'log', restart, size, root: leafHash(leaf) });
  /** Returns the sizes of the checkpoints in the folder. */
  const sizes = () =>
    readdirSync(path)
      .flatMap((origin) => readdirSync(join(path, origin)))
      .map(Number)
      .sort();
  return { stateStore, folder, signer, signed, sizes };
}

for (const [what, [kept, latest, isWritten]] of Object.entries(rows)) {
  test(`A checkpoint of another process is ${isWritten ? 'written beside' : 'refused over'} ${what}`, async (t) => {
    const { stateStore, folder, signer, signed, sizes } = given(t);
    if (kept !== null) await folder.write(signed(kept), signed(kept).note);
    if (latest !== null) await stateStore.compareAndSet(signedRecord.key, null, signed(latest));
    const keeping = signer.keep(signed(ten));
    if (isWritten) await t.notThrowsAsync(keeping);
    else await t.throwsAsync(keeping, { name: 'FolderProblem', message: /contradicts the last signed one/ });
    const expected = [...(kept === null ? [] : [kept[0]]), ...(isWritten ? [10] : [])];
    t.deepEqual(sizes(), [...new Set(expected)].sort());
  });
}
