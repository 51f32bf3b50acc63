import type { TestFn } from 'ava';

import { wholeFold, type MakeReadModelStore } from '../support/document-writes.js';

const view = 'users@1.1';

/** Collections as a whole, their checkpoints, and the records changed by compare-and-set. */
export function readModelRecordsContract(test: TestFn, makeStore: MakeReadModelStore): void {
  test.serial('a new store has no collections', async (t) => {
    const store = await makeStore(t);
    t.deepEqual(await store.collections(), []);
  });

  test.serial('collections are listed by name; records and checkpoints are not', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection('users@1.1', ['email_digest']);
    await store.ensureCollection('users@1.2', ['email_digest', 'a.b']);
    await store.putRecord('generations/users', { live: 1 }, null);
    await store.saveCheckpoint('users@1.1', { logId: 'log-a', position: '1' });
    t.deepEqual((await store.collections()).toSorted(), ['users@1.1', 'users@1.2']);
  });

  test.serial('ensuring a collection again, also many times at once, keeps its documents', async (t) => {
    const store = await makeStore(t);
    await Promise.all(Array.from({ length: 8 }, async () => store.ensureCollection(view, ['name'])));
    await store.write(view, [wholeFold('u1', 0n, { name: 'Ada' })]);
    await store.ensureCollection(view, ['name']);
    t.deepEqual(await store.collections(), [view]);
    t.is((await store.find(view, { where: { field: 'name', equals: 'Ada' }, limit: 9 })).length, 1);
  });

  test.serial('dropping a collection removes it and its checkpoint, and nothing else', async (t) => {
    const store = await makeStore(t);
    for (const name of ['users@1.1', 'users@1.2']) {
      await store.ensureCollection(name, ['name']);
      await store.write(name, [wholeFold('u1', 0n, { name: 'Ada' })]);
      await store.saveCheckpoint(name, { logId: 'log-a', position: '7' });
    }
    await store.dropCollection('users@1.1');
    t.deepEqual(await store.collections(), ['users@1.2']);
    t.is((await store.get('users@1.2', 'u1'))?.revision, 0n);
    t.deepEqual(await store.loadCheckpoint('users@1.2'), { logId: 'log-a', position: '7' });

    await store.ensureCollection('users@1.1', ['name']);
    t.deepEqual(await store.scan('users@1.1', { limit: 9 }), []);
    t.is(await store.loadCheckpoint('users@1.1'), null);
  });

  test.serial('dropping a collection twice, or one that never was, does nothing', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, ['name']);
    await store.dropCollection(view);
    await store.dropCollection(view);
    await store.dropCollection('never@1.1');
    t.deepEqual(await store.collections(), []);
  });

  test.serial('a checkpoint is null until saved, and one per collection', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    await store.ensureCollection('users@1.2', []);
    t.is(await store.loadCheckpoint(view), null);
    await store.saveCheckpoint(view, { logId: 'log-a', position: '0010' });
    t.deepEqual(await store.loadCheckpoint(view), { logId: 'log-a', position: '0010' });
    await store.saveCheckpoint(view, { logId: 'log-a', position: '0011', fingerprint: '["Ä",1]' });
    t.deepEqual(await store.loadCheckpoint(view), {
      logId: 'log-a',
      position: '0011',
      fingerprint: '["Ä",1]',
    });
    await store.saveCheckpoint(view, { logId: 'log-a', position: '0011', fingerprint: 'another' });
    t.is((await store.loadCheckpoint(view))?.fingerprint, '["Ä",1]', 'it goes with its position');
    t.is(await store.loadCheckpoint('users@1.2'), null);
  });

  test.serial('a checkpoint moves forward only, in the order of bytes', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    const save = async (position: string) => store.saveCheckpoint(view, { logId: 'log-a', position });
    await save('0010');
    await save('0009');
    await save('0010');
    t.is((await store.loadCheckpoint(view))?.position, '0010');
    await save('0011');
    t.is((await store.loadCheckpoint(view))?.position, '0011');
    await save('00109');
    t.is((await store.loadCheckpoint(view))?.position, '0011');
    await save('1');
    t.is((await store.loadCheckpoint(view))?.position, '1');
  });

  test.serial('checkpoints saved at once end at the latest', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    const shuffled = Array.from({ length: 30 }, (_, n) => String((n * 7) % 30).padStart(4, '0'));
    await Promise.all(
      shuffled.map(async (position) => store.saveCheckpoint(view, { logId: 'log-a', position })),
    );
    t.deepEqual(await store.loadCheckpoint(view), { logId: 'log-a', position: '0029' });
  });

  test.serial("another log's checkpoint replaces, wherever it is", async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    await store.saveCheckpoint(view, { logId: 'log-a', position: '0900' });
    await store.saveCheckpoint(view, { logId: 'log-b', position: '0001' });
    t.deepEqual(await store.loadCheckpoint(view), { logId: 'log-b', position: '0001' });
  });

  test.serial('a record is null until put, and put only over the version named', async (t) => {
    const store = await makeStore(t);
    t.is(await store.getRecord('live'), null);
    t.is(await store.putRecord('live', { live: 1 }, 'no-such-version'), null);
    t.is(await store.getRecord('live'), null);

    const first = await store.putRecord('live', { live: 1 }, null);
    t.is(typeof first, 'string');
    t.is(await store.putRecord('live', { live: 9 }, null), null);
    t.deepEqual(await store.getRecord('live'), { value: { live: 1 }, version: first });

    const second = await store.putRecord('live', { live: 2 }, first);
    t.not(second, null);
    t.not(second, first);
    t.is(await store.putRecord('live', { live: 9 }, first), null);
    t.deepEqual(await store.getRecord('live'), { value: { live: 2 }, version: second });
    t.is(await store.getRecord('LIVE'), null);
  });

  test.serial('a record written again with the same value has a new version', async (t) => {
    const store = await makeStore(t);
    const first = await store.putRecord('live', null, null);
    const second = await store.putRecord('live', null, first);
    t.not(second, first);
    t.deepEqual(await store.getRecord('live'), { value: null, version: second });
  });

  test.serial(
    'of 50 that put a record at once exactly one wins, over nothing and over a version',
    async (t) => {
      const store = await makeStore(t);
      let expected: string | null = null;
      for (let round = 0; round < 3; round += 1) {
        const over: string | null = expected;
        const versions: (string | null)[] = await Promise.all(
          Array.from({ length: 50 }, async (_, writer) => store.putRecord('live', { round, writer }, over)),
        );
        t.is(versions.filter((version) => version !== null).length, 1);
        const writer = versions.findIndex((version) => version !== null);
        expected = versions[writer] ?? null;
        t.deepEqual(await store.getRecord('live'), { value: { round, writer }, version: expected });
      }
    },
  );

  test.serial('a read-model store that is up answers a ping', async (t) => {
    const store = await makeStore(t);
    await t.notThrowsAsync(store.ping());
  });
}
