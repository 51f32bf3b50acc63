import test, { type ExecutionContext } from 'ava';
import { KeyProblem } from '../../src/keys/sealing/errors.js';
import { makeServiceClient } from '../support/clients/service-client.js';
import { changedKeys } from '../support/examples/changed-keys.js';
import { givenDirectory, keyEnvironment } from '../support/servers/service-process.js';
import { readLog } from '../support/servers/service-log-and-disk.js';
import { startSuiteLog, makeTestDatabase, mongoDbSuite } from '../support/servers/store-servers.js';
import { startInProcess } from '../support/servers/service-in-process.js';

/** Servers with the data of an account. */
async function given(t: ExecutionContext) {
  const log = await startSuiteLog(t);
  const eventStore = log.open();
  t.teardown(() => eventStore.close());
  const database = await makeTestDatabase(t);
  const directory = givenDirectory(t);
  const start = (keys: Readonly<Record<string, string>>) =>
    startInProcess({
      directory,
      environment: { ...keys, ...log.environment, MONGODB_URL: database.url },
    });
  const service = await start(keyEnvironment);
  await makeServiceClient(service.url).register('ada@example.org', 'Correct-Horse-7');
  await service.close();
  const dump = async (): Promise<unknown> => {
    const db = database.client.db(database.name);
    const names = (await db.collections()).map(({ collectionName }) => collectionName).toSorted();
    const documents = names.map(async (name) => [
      name,
      await db.collection(name).find().sort({ _id: 1 }).toArray(),
    ]);
    return { log: (await readLog(eventStore)).length, documents: await Promise.all(documents) };
  };
  return { start, dump };
}

mongoDbSuite(test, 'The tests of keys on servers', () => {
  test('Servers: with each variable wrong, swapped or missing, the start names it and writes nothing', async (t) => {
    const { start, dump } = await given(t);
    const before = await dump();
    for (const { what, variables, environment } of changedKeys) {
      const refusal = await t.throwsAsync(start(environment), { instanceOf: KeyProblem }, what);
      for (const name of variables) t.regex(refusal.message, new RegExp(name), what);
      t.deepEqual(await dump(), before, what);
    }
    // Then the right keys start, in two processes at once
    const both = await Promise.all([start(keyEnvironment), start(keyEnvironment)]);
    await Promise.all(both.map((service) => service.close()));
  });
});
