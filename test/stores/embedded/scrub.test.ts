import { join } from 'node:path';
import test from 'ava';
import { openReader } from '../../../src/stores/embedded/files/database.js';
import { checkReadModels } from '../../../src/stores/embedded/documents/read-model-scrub.js';
import { givenDirectory, openDocuments } from '../../support/servers/embedded-directory.js';

test('A slice of the check of read models begins no document after 8 MiB', async (t) => {
  // Given four documents of 5 MiB
  const directory = givenDirectory(t);
  const stores = await openDocuments(directory);
  for (const id of ['a', 'b', 'c', 'd']) {
    const document = { id, revision: 0n, body: { text: 'x'.repeat(5 * 1024 * 1024) } };
    await stores.readModelStore.write('assets@1.1', [{ document, foldedFrom: 'whole-stream' }]);
  }
  await stores.close();
  // When they are checked
  const connection = openReader(join(directory, 'read-models.db'));
  t.teardown(() => {
    connection.close();
  });
  // Then two slices read two documents each, one finds their end, and one reads each index
  t.is([...checkReadModels(connection)].length, 5);
});
