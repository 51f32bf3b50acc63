import type { TestFn } from 'ava';
import { pluck } from '../support/given/pluck.js';

import { wholeFold, type MakeReadModelStore } from '../support/clients/document-writes.js';
import {
  dropCheckpoint,
  getRecord,
  getRecords,
  listRecords,
  loadCheckpoint,
  loadCheckpoints,
  putRecord,
  removeRecord,
  makeSaveCheckpoint,
} from '../../src/event-sourcing/ports/records.js';

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
      await putRecord(store, 'generations/users', { live: 1 }, null);
      await makeSaveCheckpoint(store, 'users@1.1')({ logId: 'log-a', position: '1' });
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

  test.serial('Dropping a collection or a checkpoint removes it, and nothing else', async (t) => {
    const store = await makeStore(t);
    for (const name of ['users@1.1', 'users@1.2']) {
      await store.ensureCollection(name, ['name']);
      await store.write(name, [wholeFold('u1', 0n, { name: 'Ada' })]);
      await makeSaveCheckpoint(store, name)({ logId: 'log-a', position: '7' });
    }
    await store.dropCollection('users@1.1');
    t.deepEqual(await store.collections(), ['users@1.2']);
    t.is((await store.get('users@1.2', 'u1'))?.revision, 0n);
    // The checkpoint is a record, which `dropGeneration` drops first
    await dropCheckpoint(store, 'users@1.1');
    t.deepEqual(await loadCheckpoint(store, 'users@1.2'), { logId: 'log-a', position: '7' });

    await store.ensureCollection('users@1.1', ['name']);
    t.deepEqual(await store.scan('users@1.1', { limit: 9 }), []);
    t.is(await loadCheckpoint(store, 'users@1.1'), null);
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
    t.is(await loadCheckpoint(store, view), null);
    await makeSaveCheckpoint(store, view)({ logId: 'log-a', position: '0010' });
    t.deepEqual(await loadCheckpoint(store, view), { logId: 'log-a', position: '0010' });
    await makeSaveCheckpoint(store, view)({ logId: 'log-a', position: '0011', fingerprint: '["Ä",1]' });
    t.deepEqual(await loadCheckpoint(store, view), {
      logId: 'log-a',
      position: '0011',
      fingerprint: '["Ä",1]',
    });
    await makeSaveCheckpoint(store, view)({ logId: 'log-a', position: '0011', fingerprint: 'another' });
    t.is(
      (await loadCheckpoint(store, view))?.fingerprint,
      '["Ä",1]',
      'the fingerprint changes only with its position',
    );
    t.is(await loadCheckpoint(store, 'users@1.2'), null);
  });

  test.serial('Checkpoints that are loaded together are those that exist, by collection', async (t) => {
    const store = await makeStore(t);
    for (const name of ['users@1.1', 'users@1.2', 'users@1.3']) await store.ensureCollection(name, []);
    await makeSaveCheckpoint(store, 'users@1.1')({ logId: 'log-a', position: '0010' });
    await makeSaveCheckpoint(
      store,
      'users@1.3',
    )({ logId: 'log-b', position: '0011', fingerprint: '["Ä",1]' });
    await makeSaveCheckpoint(store, 'reaction/mail')({ logId: 'log-a', position: '0012' });
    const names = ['users@1.1', 'users@1.2', 'reaction/mail', 'never@1.1'];
    t.deepEqual([...(await loadCheckpoints(store, names))].sort(), [
      ['reaction/mail', { logId: 'log-a', position: '0012' }],
      ['users@1.1', { logId: 'log-a', position: '0010' }],
    ]);
    t.deepEqual((await loadCheckpoints(store, ['users@1.3'])).get('users@1.3'), {
      logId: 'log-b',
      position: '0011',
      fingerprint: '["Ä",1]',
    });
    t.is((await loadCheckpoints(store, [])).size, 0);
  });

  test.serial('A checkpoint only moves forward, in the order of bytes', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    const save = async (position: string) => makeSaveCheckpoint(store, view)({ logId: 'log-a', position });
    await save('0010');
    await save('0009');
    await save('0010');
    t.is((await loadCheckpoint(store, view))?.position, '0010');
    await save('0011');
    t.is((await loadCheckpoint(store, view))?.position, '0011');
    await save('00109');
    t.is((await loadCheckpoint(store, view))?.position, '0011');
    await save('1');
    t.is((await loadCheckpoint(store, view))?.position, '1');
  });

  test.serial('Checkpoints that are saved at once end at the latest', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    const shuffled = Array.from({ length: 30 }, (_, n) => String((n * 7) % 30).padStart(4, '0'));
    await Promise.all(
      shuffled.map(async (position) => makeSaveCheckpoint(store, view)({ logId: 'log-a', position })),
    );
    t.deepEqual(await loadCheckpoint(store, view), { logId: 'log-a', position: '0029' });
  });

  test.serial('The checkpoint of another log replaces one at any position', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    await makeSaveCheckpoint(store, view)({ logId: 'log-a', position: '0900' });
    await makeSaveCheckpoint(store, view)({ logId: 'log-b', position: '0001' });
    t.deepEqual(await loadCheckpoint(store, view), { logId: 'log-b', position: '0001' });
  });

  test.serial(
    'A record is null until it is put, and a put succeeds only over the expected version',
    async (t) => {
      const store = await makeStore(t);
      t.is(await getRecord(store, 'live'), null);
      t.is(await putRecord(store, 'live', { live: 1 }, 7n), null);
      t.is(await getRecord(store, 'live'), null);

      const first = await putRecord(store, 'live', { live: 1 }, null);
      t.is(typeof first, 'bigint');
      t.is(await putRecord(store, 'live', { live: 9 }, null), null);
      t.deepEqual(await getRecord(store, 'live'), { name: 'live', value: { live: 1 }, version: first });

      const second = await putRecord(store, 'live', { live: 2 }, first);
      t.not(second, null);
      t.not(second, first);
      t.is(await putRecord(store, 'live', { live: 9 }, first), null);
      t.deepEqual(await getRecord(store, 'live'), { name: 'live', value: { live: 2 }, version: second });
      t.is(await getRecord(store, 'LIVE'), null);
    },
  );

  test.serial(
    'Records that are read together are those that exist, by name, without the removed ones',
    async (t) => {
      const store = await makeStore(t);
      const versions = new Map<string, bigint | null>();
      for (const name of ['a', 'b', 'c']) versions.set(name, await putRecord(store, name, { name }, null));
      await removeRecord(store, 'b', versions.get('b') ?? 0n);
      t.deepEqual(
        [...(await getRecords(store, ['c', 'b', 'a', 'd']))].sort(),
        ['a', 'c'].map((name) => [name, { name, value: { name }, version: versions.get(name) }]),
      );
      t.is((await getRecords(store, [])).size, 0);
    },
  );

  test.serial('A record that is written again with the same value has a new version', async (t) => {
    const store = await makeStore(t);
    const first = await putRecord(store, 'live', {}, null);
    const second = await putRecord(store, 'live', {}, first);
    t.not(second, first);
    t.deepEqual(await getRecord(store, 'live'), { name: 'live', value: {}, version: second });
  });

  test.serial(
    'Of 50 concurrent puts of a record exactly one succeeds, both over an absent record and over a version',
    async (t) => {
      const store = await makeStore(t);
      let expected: bigint | null = null;
      for (let round = 0; round < 3; round += 1) {
        const over: bigint | null = expected;
        const versions: (bigint | null)[] = await Promise.all(
          Array.from({ length: 50 }, async (_, writer) => putRecord(store, 'live', { round, writer }, over)),
        );
        t.is(versions.filter((version) => version !== null).length, 1);
        const writer = versions.findIndex((version) => version !== null);
        expected = versions[writer] ?? null;
        t.deepEqual(await getRecord(store, 'live'), {
          name: 'live',
          value: { round, writer },
          version: expected,
        });
      }
    },
  );

  test.serial('A record is removed only at the version named, and may be put again', async (t) => {
    const store = await makeStore(t);
    t.false(await removeRecord(store, 'live', 7n));
    const first = await putRecord(store, 'live', { live: 1 }, null);
    const second = await putRecord(store, 'live', { live: 2 }, first);
    t.false(await removeRecord(store, 'live', first ?? 0n));
    t.deepEqual(await getRecord(store, 'live'), { name: 'live', value: { live: 2 }, version: second });

    t.true(await removeRecord(store, 'live', second ?? 0n));
    t.is(await getRecord(store, 'live'), null);
    t.false(await removeRecord(store, 'live', second ?? 0n));
    t.is(await putRecord(store, 'live', { live: 3 }, second), null);
    const again = await putRecord(store, 'live', { live: 4 }, null);
    t.deepEqual(await getRecord(store, 'live'), { name: 'live', value: { live: 4 }, version: again });
  });

  test.serial('Records are listed by prefix in order of name, without the removed ones', async (t) => {
    const store = await makeStore(t);
    const versions = new Map<string, bigint | null>();
    for (const name of ['b/2', 'a/10', 'b/1', 'b', 'c/1', 'B/1', 'b/3']) {
      versions.set(name, await putRecord(store, name, { name }, null));
    }
    await removeRecord(store, 'b/3', versions.get('b/3') ?? 0n);
    t.deepEqual(
      await listRecords(store, 'b/'),
      ['b/1', 'b/2'].map((name) => ({ name, value: { name }, version: versions.get(name) })),
    );
    t.is((await listRecords(store, '')).length, 6);
    t.deepEqual(await listRecords(store, 'd'), []);
  });

  test.serial('A list of records is complete beyond a page', async (t) => {
    const store = await makeStore(t);
    const names = Array.from({ length: 401 }, (_, n) => `r/${String(n).padStart(3, '0')}`);
    await Promise.all(names.map(async (name) => putRecord(store, name, {}, null)));
    const listed = await listRecords(store, 'r/');
    t.deepEqual(pluck(listed, 'name'), names);
  });
}
