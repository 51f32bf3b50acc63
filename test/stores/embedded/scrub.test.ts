import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { openReader } from '../../../src/stores/embedded/files/database.js';
import { checkReadModels } from '../../../src/stores/embedded/documents/read-model-scrub.js';
import { scrubOnce, startScrub } from '../../../src/stores/embedded/documents/start-scrub.js';
import { givenDirectory, openDocuments } from '../../support/servers/embedded-directory.js';

/** Given four documents of 5 MiB. Returns the path of their file. */
async function givenLargeDocuments(t: ExecutionContext): Promise<string> {
  const directory = givenDirectory(t);
  const stores = await openDocuments(directory);
  for (const id of ['a', 'b', 'c', 'd']) {
    const document = { id, revision: 0n, body: { text: 'x'.repeat(5 * 1024 * 1024) } };
    await stores.readModelStore.write('assets@1.1', [{ document, foldedFrom: 'whole-stream' }]);
  }
  await stores.close();
  return join(directory, 'read-models.db');
}

test.serial('A check of read models whose thread cannot open the file ends no process', async (t) => {
  // Given checks of a file in a directory that is absent
  const damages: Error[] = [];
  const end = startScrub(join(givenDirectory(t), 'absent', 'read-models.db'), (damage) =>
    damages.push(damage),
  );
  // The checks themselves keep no process alive
  const alive = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(alive));
  // When the thread of the first check has ended
  const [worker] = (await once(process, 'worker')) as [Worker];
  await new Promise((resolve) => worker.once('exit', resolve));
  // Then the checks wait for a later one, and no damage is known
  await t.notThrowsAsync(end());
  t.deepEqual(damages, []);
});

test('A slice of the check of read models begins no document after 8 MiB', async (t) => {
  const path = await givenLargeDocuments(t);
  // When they are checked
  const connection = openReader(path);
  t.teardown(() => connection.close());
  // Then two slices read two documents each, one finds their end, and one reads each index
  t.is([...checkReadModels(connection)].length, 5);
});

// libsql aborts the process when its thread is terminated within a call.
test('A check of read models that ends within a slice ends no process', async (t) => {
  const path = await givenLargeDocuments(t);
  for (let ms = 90; ms < 190; ms += 25) {
    const ending = new AbortController();
    const checking = scrubOnce(path, ending.signal).catch((error: unknown) => error);
    await wait(ms);
    ending.abort();
    const ended = await checking;
    t.true(ended === null || (ended instanceof Error && ended.name === 'AbortError'));
  }
});
