/* Tests the limit of the creation of indexes, which take long where there are many documents. */
import test from 'ava';

import { openMongoDbStores } from '../../../src/stores/mongodb/open-mongodb-stores.js';
import { realClock } from '../../support/fakes/clock.js';
import { makeFakeMongoDb, nothingFound } from '../../support/fakes/fake-mongodb.js';

test('Indexes that take longer than a write are created by one command, and the start waits for it', async (t) => {
  // Given a server that takes longer for indexes than the limit of a write
  const limits = { openMs: 600_000, readMs: 600_000, writeMs: 2_000, indexMs: 600_000 };
  const server = await makeFakeMongoDb();
  t.teardown(server.close);
  const { readModelStore, close } = await openMongoDbStores({
    ...{ url: server.url, clock: realClock, random: Math.random, limits },
  });
  t.teardown(close);
  server.script = (command) => {
    if ('createIndexes' in command) return 'frozen';
    return 'find' in command ? nothingFound : { ok: 1, n: 1 };
  };
  const commandsOf = (collection: string) =>
    server.received.filter(({ createIndexes }) => createIndexes === collection);
  // When a view's collection is made
  let isDone = false;
  const ensured = readModelStore.ensureCollection('projects@4.1', ['owner']).then(() => {
    isDone = true;
  });
  await realClock.sleep(1.5 * limits.writeMs);
  t.false(isDone);
  server.script = () => ({ ok: 1, n: 1 });
  server.thaw();
  // Then the one command counts
  await ensured;
  t.is(commandsOf('view.projects@4.1').length, 1);
  t.like(commandsOf('view.projects@4.1')[0], { writeConcern: { wtimeout: 540_000 } });
});
