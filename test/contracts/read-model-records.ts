import type { TestFn } from 'ava';

import { wholeFold, type MakeReadModelStore } from '../support/clients/document-writes.js';

const view = 'users@1.1';

/** Tests whole collections, their checkpoints, and the records that change by compare-and-set. */
export function readModelRecordsContract(test: TestFn, makeStore: MakeReadModelStore): void {
  test.serial('A new store has no collections', async (t) => {
    const store = await makeStore(t);
    t.deepEqual(await store.collections(), []);
  });

  test.serial(
    'The list of collections contains their names, and neither records nor checkpoints',
    async (t) => {
      const store = await makeStore(t);
      await store.ensureCollection('users@1.1', ['email_digest']);
      await store.ensureCollection('users@1.2', ['email_digest', 'a.b']);
      await store.putRecord('generations/users', { live: 1 }, null);
      await store.saveCheckpoint('users@1.1', { logId: 'log-a', position: '1' });
      t.deepEqual((await store.collections()).toSorted(), ['users@1.1', 'users@1.2']);
    },
  );

  test.serial('Ensuring a collection again, also several times at once, keeps its documents', async (t) => {
    const store = await makeStore(t);
    await Promise.all(Array.from({ length: 8 }, async () => store.ensureCollection(view, ['name'])));
    await store.write(view, [wholeFold('u1', 0n, { name: 'Ada' })]);
    await store.ensureCollection(view, ['name']);
    t.deepEqual(await store.collections(), [view]);
    t.is((await store.find(view, { where: { field: 'name', equals: 'Ada' }, limit: 9 })).length, 1);
  });

  test.serial('Dropping a collection removes it and its checkpoint, and nothing else', async (t) => {
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

  test.serial('Dropping a collection twice, or an absent one, does nothing', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, ['name']);
    await store.dropCollection(view);
    await store.dropCollection(view);
    await store.dropCollection('never@1.1');
    t.deepEqual(await store.collections(), []);
  });

  test.serial('A checkpoint is null until it is saved, and each collection has one', async (t) => {
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
    t.is(
      (await store.loadCheckpoint(view))?.fingerprint,
      '["Ä",1]',
      'the fingerprint changes only with its position',
    );
    t.is(await store.loadCheckpoint('users@1.2'), null);
  });

  test.serial('Checkpoints that are loaded together are those that exist, by collection', async (t) => {
    const store = await makeStore(t);
    for (const name of ['users@1.1', 'users@1.2', 'users@1.3']) await store.ensureCollection(name, []);
    await store.saveCheckpoint('users@1.1', { logId: 'log-a', position: '0010' });
    await store.saveCheckpoint('users@1.3', { logId: 'log-b', position: '0011', fingerprint: '["Ä",1]' });
    await store.saveCheckpoint('reaction/mail', { logId: 'log-a', position: '0012' });
    const names = ['users@1.1', 'users@1.2', 'reaction/mail', 'never@1.1'];
    t.deepEqual([...(await store.loadCheckpoints(names))].sort(), [
      ['reaction/mail', { logId: 'log-a', position: '0012' }],
      ['users@1.1', { logId: 'log-a', position: '0010' }],
    ]);
    t.deepEqual((await store.loadCheckpoints(['users@1.3'])).get('users@1.3'), {
      logId: 'log-b',
      position: '0011',
      fingerprint: '["Ä",1]',
    });
    t.is((await store.loadCheckpoints([])).size, 0);
  });

  test.serial('A checkpoint only moves forward, in the order of bytes', async (t) => {
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

  test.serial('Checkpoints that are saved at once end at the latest', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    const shuffled = Array.from({ length: 30 }, (_, n) => String((n * 7) % 30).padStart(4, '0'));
    await Promise.all(
      shuffled.map(async (position) => store.saveCheckpoint(view, { logId: 'log-a', position })),
    );
    t.deepEqual(await store.loadCheckpoint(view), { logId: 'log-a', position: '0029' });
  });

  test.serial('The checkpoint of another log replaces one at any position', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    await store.saveCheckpoint(view, { logId: 'log-a', position: '0900' });
    await store.saveCheckpoint(view, { logId: 'log-b', position: '0001' });
    t.deepEqual(await store.loadCheckpoint(view), { logId: 'log-b', position: '0001' });
  });

  test.serial(
    'A record is null until it is put, and a put succeeds only over the expected version',
    async (t) => {
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
    },
  );

  test.serial(
    'Records that are read together are those that exist, by name, without the removed ones',
    async (t) => {
      const store = await makeStore(t);
      const versions = new Map<string, string | null>();
      for (const name of ['a', 'b', 'c']) versions.set(name, await store.putRecord(name, { name }, null));
      await store.removeRecord('b', versions.get('b') ?? '');
      t.deepEqual(
        [...(await store.getRecords(['c', 'b', 'a', 'd']))].sort(),
        ['a', 'c'].map((name) => [name, { value: { name }, version: versions.get(name) }]),
      );
      t.is((await store.getRecords([])).size, 0);
    },
  );

  test.serial('A record that is written again with the same value has a new version', async (t) => {
    const store = await makeStore(t);
    const first = await store.putRecord('live', null, null);
    const second = await store.putRecord('live', null, first);
    t.not(second, first);
    t.deepEqual(await store.getRecord('live'), { value: null, version: second });
  });

  test.serial(
    'Of 50 concurrent puts of a record exactly one succeeds, both over an absent record and over a version',
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

  test.serial('A record is removed only at the version named, and may be put again', async (t) => {
    const store = await makeStore(t);
    t.false(await store.removeRecord('live', 'no-such-version'));
    const first = await store.putRecord('live', { live: 1 }, null);
    const second = await store.putRecord('live', { live: 2 }, first);
    t.false(await store.removeRecord('live', first ?? ''));
    t.deepEqual(await store.getRecord('live'), { value: { live: 2 }, version: second });

    t.true(await store.removeRecord('live', second ?? ''));
    t.is(await store.getRecord('live'), null);
    t.false(await store.removeRecord('live', second ?? ''));
    t.is(await store.putRecord('live', { live: 3 }, second), null);
    const again = await store.putRecord('live', { live: 4 }, null);
    t.deepEqual(await store.getRecord('live'), { value: { live: 4 }, version: again });
  });

  test.serial('Records are listed by prefix in order of name, without the removed ones', async (t) => {
    const store = await makeStore(t);
    const versions = new Map<string, string | null>();
    for (const name of ['b/2', 'a/10', 'b/1', 'b', 'c/1', 'B/1', 'b/3']) {
      versions.set(name, await store.putRecord(name, { name }, null));
    }
    await store.removeRecord('b/3', versions.get('b/3') ?? '');
    t.deepEqual(
      await store.listRecords('b/'),
      ['b/1', 'b/2'].map((name) => ({ name, value: { name }, version: versions.get(name) })),
    );
    t.is((await store.listRecords('')).length, 6);
    t.deepEqual(await store.listRecords('d'), []);
  });

  test.serial('A list of records is complete beyond a page', async (t) => {
    const store = await makeStore(t);
    const names = Array.from({ length: 401 }, (_, n) => `r/${String(n).padStart(3, '0')}`);
    await Promise.all(names.map(async (name) => store.putRecord(name, 1, null)));
    const listed = await store.listRecords('r/');
    t.deepEqual(
      listed.map(({ name }) => name),
      names,
    );
  });

  test.serial('A read-model store that is up answers a ping', async (t) => {
    const store = await makeStore(t);
    await t.notThrowsAsync(store.ping());
  });
}
