import type { ExecutionContext, TestFn } from 'ava';

import type {
  DocumentQuery,
  OrderedQuery,
  ReadModelStore,
  StoredDocument,
} from '../../src/event-sourcing/ports/read-model-store.js';
import type { View } from '../../src/event-sourcing/views/views.js';
import { examinedMax, filteredPage } from '../../projections/filtered-page.js';
import { incrementalFold, wholeFold, type MakeReadModelStore } from '../support/clients/document-writes.js';

const view = 'projects@2.1';
const ownersView = 'owners@1.1';
const indexes = ['owner', 'settings.region', 'members.user_id', 'labels'];

/** Tests queries: many documents by id, by index, in pages, and scans. */
export function readModelQueriesContract(test: TestFn, makeStore: MakeReadModelStore): void {
  const withProjects = async (t: ExecutionContext) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, indexes);
    await store.write(view, [
      wholeFold('p1', 0n, {
        owner: 'ada',
        settings: { region: 'eu' },
        members: [{ user_id: 'ada' }],
        labels: ['x'],
      }),
      wholeFold('p2', 0n, {
        owner: 'bob',
        settings: { region: 'us' },
        members: [{ user_id: 'ada' }, { user_id: 'bob' }],
      }),
      wholeFold('p3', 0n, { owner: 'ada', settings: null, members: [], labels: ['y', 'x'] }),
      wholeFold('p4', 0n, null),
      wholeFold('p5', 0n, { owner: 'ada', settings: { region: 'eu' } }),
      wholeFold('p6', 3n, { owner: 'ada' }),
      wholeFold('p7', 0n, { owner: null, settings: {}, members: [{ user_id: null }, {}] }),
    ]);
    await store.write(view, [incrementalFold('p6', 3n, 4n, null)]);
    return store;
  };

  test.serial('A read of many ids returns the documents that exist, tombstones included', async (t) => {
    const store = await withProjects(t);
    t.deepEqual(ids(await store.getMany(view, ['p6', 'absent', 'p1', 'p1'])).sort(), ['p1', 'p6']);
    t.deepEqual(await store.getMany(view, []), []);
    t.deepEqual(await store.getMany(view, ['p6']), [{ id: 'p6', revision: 4n, body: null }]);
  });

  test.serial(
    'A find without a field returns all documents in order of id, without tombstones',
    async (t) => {
      const store = await withProjects(t);
      t.deepEqual(await found(store, { limit: 10 }), ['p1', 'p2', 'p3', 'p5', 'p7']);
      t.deepEqual(await found(store, { limit: 10, descending: true }), ['p7', 'p5', 'p3', 'p2', 'p1']);
    },
  );

  test.serial(
    'A filtered page goes on where it ended, in either direction, and ends after its bound',
    async (t) => {
      const store = await makeStore(t);
      await store.ensureCollection(view, indexes);
      const count = examinedMax + 201;
      const name = (n: number): string => `p${String(n).padStart(5, '0')}`;
      const owner = (n: number): string => (n % 2 === 0 ? 'ada' : 'bob');
      const writes = Array.from({ length: 2 * count }, (_, n) =>
        wholeFold(name(n), 0n, { owner: owner(n), n }),
      );
      for (let from = 0; from < writes.length; from += 500)
        await store.write(view, writes.slice(from, from + 500));
      const documents: Pick<View<{ readonly owner: string; readonly n: number }>, 'find'> = {
        find: async (query) => (await store.find(view, query)) as never,
      };
      const where = { field: 'owner', equals: 'ada' };
      for (const descending of [false, true]) {
        const pages: number[][] = [];
        let after: string | undefined;
        do {
          const page = { where, descending, limit: 2, ...(after === undefined ? {} : { after }) };
          const sought = new Set([0, 2, 4, 2 * count - 2]);
          const { items, next } = await filteredPage(documents, page, ({ body }) => sought.has(body.n));
          pages.push(items.map(({ body }) => body.n));
          after = next ?? undefined;
        } while (after !== undefined);
        t.deepEqual(pages, descending ? [[2 * count - 2], [4, 2], [0]] : [[0, 2], [4], [2 * count - 2]]);
      }
    },
  );

  test.serial('A find returns whole documents', async (t) => {
    const store = await withProjects(t);
    t.deepEqual(await store.find(view, { where: { field: 'settings.region', equals: 'us' }, limit: 1 }), [
      {
        id: 'p2',
        revision: 0n,
        body: { owner: 'bob', settings: { region: 'us' }, members: [{ user_id: 'ada' }, { user_id: 'bob' }] },
      },
    ]);
  });

  test.serial(
    'A find by an indexed field returns the matches in either direction, without tombstones',
    async (t) => {
      const store = await withProjects(t);
      const where = { field: 'owner', equals: 'ada' };
      t.deepEqual(await found(store, { where, limit: 10 }), ['p1', 'p3', 'p5']);
      t.deepEqual(await found(store, { where, limit: 10, descending: true }), ['p5', 'p3', 'p1']);
      t.deepEqual(await found(store, { where: { field: 'owner', equals: 'zoe' }, limit: 10 }), []);
    },
  );

  test.serial('A find in pages returns at most the limit after an id, in either direction', async (t) => {
    const store = await withProjects(t);
    const where = { field: 'owner', equals: 'ada' };
    t.deepEqual(await found(store, { limit: 2 }), ['p1', 'p2']);
    t.deepEqual(await found(store, { after: 'p2', limit: 2 }), ['p3', 'p5']);
    t.deepEqual(await found(store, { after: 'p4', limit: 2 }), ['p5', 'p7']);
    t.deepEqual(await found(store, { after: 'p3', limit: 10, descending: true }), ['p2', 'p1']);
    t.deepEqual(await found(store, { where, limit: 2 }), ['p1', 'p3']);
    t.deepEqual(await found(store, { where, after: 'p1', limit: 10 }), ['p3', 'p5']);
    t.deepEqual(await found(store, { where, after: 'p5', limit: 1, descending: true }), ['p3']);
    t.deepEqual(await found(store, { where, after: 'p5', limit: 10 }), []);
  });

  test.serial('A find follows a dotted path through lists on the way and at its end', async (t) => {
    const store = await withProjects(t);
    const by = async (field: string, equals: string) => found(store, { where: { field, equals }, limit: 10 });
    t.deepEqual(await by('settings.region', 'eu'), ['p1', 'p5']);
    t.deepEqual(await by('members.user_id', 'ada'), ['p1', 'p2']);
    t.deepEqual(await by('members.user_id', 'bob'), ['p2']);
    t.deepEqual(await by('labels', 'x'), ['p1', 'p3']);
    t.deepEqual(await by('labels', 'y'), ['p3']);
  });

  test.serial('A find by any of several values returns each document once, in pages', async (t) => {
    const store = await withProjects(t);
    const where = { field: 'members.user_id', anyOf: ['bob', 'ada', 'nobody'] };
    t.deepEqual(await found(store, { where, limit: 10 }), ['p1', 'p2']);
    t.deepEqual(await found(store, { where, limit: 1 }), ['p1']);
    t.deepEqual(await found(store, { where, after: 'p1', limit: 10 }), ['p2']);
    t.deepEqual(await found(store, { where, descending: true, limit: 10 }), ['p2', 'p1']);
    t.deepEqual(await found(store, { where: { field: 'labels', anyOf: [] }, limit: 10 }), []);
  });

  test.serial('A find returns a document once when a list contains the value twice', async (t) => {
    const store = await withProjects(t);
    await store.write(view, [wholeFold('p8', 0n, { members: [{ user_id: 'eve' }, { user_id: 'eve' }] })]);
    t.deepEqual(await found(store, { where: { field: 'members.user_id', equals: 'eve' }, limit: 10 }), [
      'p8',
    ]);
  });

  test.serial(
    'A find compares strings exactly: without case folding, patterns, operators or other types',
    async (t) => {
      const store = await withProjects(t);
      await store.write(view, [
        wholeFold('q1', 0n, { owner: '5' }),
        wholeFold('q2', 0n, { owner: 5 }),
        wholeFold('q3', 0n, { owner: 'true' }),
        wholeFold('q4', 0n, { owner: true }),
        wholeFold('q5', 0n, { owner: '$ne' }),
        wholeFold('q6', 0n, { owner: { $ne: 'x' } }),
        wholeFold('q7', 0n, { owner: '' }),
        wholeFold('q8', 0n, { owner: '日本 é\u0301 😀' }),
      ]);
      const by = async (equals: string) => found(store, { where: { field: 'owner', equals }, limit: 10 });
      t.deepEqual(await by('5'), ['q1']);
      t.deepEqual(await by('true'), ['q3']);
      t.deepEqual(await by('$ne'), ['q5']);
      t.deepEqual(await by(''), ['q7']);
      t.deepEqual(await by('日本 é\u0301 😀'), ['q8']);
      for (const none of ['ADA', 'a%', 'ad_', 'a.*', 'null', '{"$ne":"x"}', 'ada '])
        t.deepEqual(await by(none), []);
    },
  );

  test.serial('A key that contains a dot does not match the dotted path of that name', async (t) => {
    const store = await withProjects(t);
    await store.write(view, [wholeFold('q1', 0n, { 'settings.region': 'moon' })]);
    t.deepEqual(await found(store, { where: { field: 'settings.region', equals: 'moon' }, limit: 10 }), []);
  });

  test.serial('A change of an indexed field moves the document, and a tombstone removes it', async (t) => {
    const store = await withProjects(t);
    const by = async (equals: string) => found(store, { where: { field: 'owner', equals }, limit: 10 });
    await store.write(view, [
      incrementalFold('p1', 0n, 1n, { owner: 'bob' }),
      incrementalFold('p2', 0n, 1n, null),
    ]);
    t.deepEqual(await by('ada'), ['p3', 'p5']);
    t.deepEqual(await by('bob'), ['p1']);
  });

  test.serial(
    'An ordered find returns documents by an indexed field, then by id, and leaves out those without a string there',
    async (t) => {
      const store = await withProjects(t);
      await store.write(view, [wholeFold('p0', 0n, { owner: 'bob' }), wholeFold('p8', 0n, { owner: 7 })]);
      t.deepEqual(await inOrder(store, { orderBy: 'owner', limit: 10 }), ['p1', 'p3', 'p5', 'p0', 'p2']);
      t.deepEqual(await inOrder(store, { orderBy: 'settings.region', limit: 10 }), ['p1', 'p5', 'p2']);
      // A change moves the document; a tombstone removes it.
      await store.write(view, [
        incrementalFold('p1', 0n, 1n, { owner: 'eve' }),
        incrementalFold('p3', 0n, 1n, null),
        incrementalFold('p8', 0n, 1n, { owner: '' }),
      ]);
      t.deepEqual(await inOrder(store, { orderBy: 'owner', limit: 10 }), ['p8', 'p5', 'p0', 'p2', 'p1']);
      t.deepEqual(await store.findInOrder(view, { orderBy: 'owner', limit: 1 }), [
        { id: 'p8', revision: 1n, body: { owner: '' } },
      ]);
    },
  );

  test.serial('An ordered find in pages returns at most the limit after a value and an id', async (t) => {
    const store = await withProjects(t);
    const from = (value: string, id: string, limit: number) =>
      inOrder(store, { orderBy: 'owner', after: { value, id }, limit });
    t.deepEqual(await inOrder(store, { orderBy: 'owner', limit: 2 }), ['p1', 'p3']);
    t.deepEqual(await from('ada', 'p3', 2), ['p5', 'p2']);
    // The position need not hold a document: it may be empty, or its document may have moved
    t.deepEqual(await from('ada', 'p4', 1), ['p5']);
    t.deepEqual(await from('ada', 'zz', 10), ['p2']);
    t.deepEqual(await from('abc', 'zz', 10), ['p1', 'p3', 'p5', 'p2']);
    t.deepEqual(await from('bob', 'p1', 10), ['p2']);
    t.deepEqual(await from('bob', 'p2', 10), []);
    t.deepEqual(await inOrder(store, { orderBy: 'owner', limit: 0 }), []);

    const down = (limit: number, after?: { readonly value: string; readonly id: string }) =>
      inOrder(store, {
        orderBy: 'owner',
        descending: true,
        limit,
        ...(after === undefined ? {} : { after }),
      });
    t.deepEqual(await down(10), ['p2', 'p5', 'p3', 'p1']);
    t.deepEqual(await down(2), ['p2', 'p5']);
    t.deepEqual(await down(2, { value: 'ada', id: 'p5' }), ['p3', 'p1']);
    t.deepEqual(await down(1, { value: 'ada', id: 'p4' }), ['p3']);
    t.deepEqual(await down(10, { value: 'ada', id: '' }), []);
    t.deepEqual(await down(10, { value: 'bob', id: '' }), ['p5', 'p3', 'p1']);
    t.deepEqual(await down(0), []);
  });

  test.serial('The values of an order sort as bytes', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, indexes);
    const sorted = ['', '$x', '10', '9', 'A', 'Z', '_', 'a', 'a.b', 'é', '日本', '😀'];
    const owners = new Map(sorted.map((owner, n) => [`p${String.fromCodePoint(122 - n)}`, owner]));
    await store.write(
      view,
      [...owners].map(([id, owner]) => wholeFold(id, 0n, { owner })),
    );
    const visited: string[] = [];
    let after = { value: '', id: '' };
    while (visited.length <= sorted.length) {
      const [next] = await inOrder(store, { orderBy: 'owner', after, limit: 1 });
      if (next === undefined) break;
      visited.push(owners.get(next) ?? 'none');
      after = { value: owners.get(next) ?? 'none', id: next };
    }
    t.deepEqual(visited, sorted);
  });

  test.serial('The ids of an index come in order, in pages, without tombstones', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, indexes);
    await store.write(view, [
      wholeFold('p3', 0n, { owner: 'ada' }),
      wholeFold('p1', 0n, { owner: 'ada' }),
      wholeFold('p2', 0n, { owner: 'bob' }),
      wholeFold('p5', 0n, { owner: 'ada' }),
      wholeFold('p4', 0n, null),
    ]);
    const of = { where: { field: 'owner', equals: 'ada' } };
    t.deepEqual(await store.ids(view, { ...of, limit: 9 }), ['p1', 'p3', 'p5']);
    t.deepEqual(await store.ids(view, { ...of, limit: 2 }), ['p1', 'p3']);
    t.deepEqual(await store.ids(view, { ...of, limit: 2, after: 'p3' }), ['p5']);
    t.deepEqual(await store.ids(view, { ...of, limit: 2, descending: true }), ['p5', 'p3']);
    t.deepEqual(await store.ids(view, { ...of, limit: 2, descending: true, after: 'p3' }), ['p1']);
    t.deepEqual(await store.ids(view, { ...of, limit: 0 }), []);
    t.deepEqual(await store.ids(view, { where: { field: 'owner', equals: 'eve' }, limit: 9 }), []);
    await store.write(view, [
      incrementalFold('p1', 0n, 1n, null),
      incrementalFold('p3', 0n, 1n, { owner: 'eve' }),
    ]);
    t.deepEqual(await store.ids(view, { ...of, limit: 9 }), ['p5']);
  });

  test.serial(
    'A store with joins returns selected ids with their documents of another collection',
    async (t) => {
      const { getSelected, ...store } = await withProjects(t);
      if (getSelected === undefined) {
        t.pass('the store has no network in between');
        return;
      }
      await store.ensureCollection(ownersView, []);
      const [first, last] = [wholeFold('p1', 7n, { 'a.b': '$x' }), wholeFold('p5', 2n, null)];
      await store.write(ownersView, [first, wholeFold('p2', 1n, { n: 2 }), last]);
      const read = async (
        query: Omit<Parameters<typeof getSelected>[1], 'from' | 'where'>,
        equals = 'ada',
      ) => {
        const { ids: selected, documents } = await getSelected(ownersView, {
          ...query,
          from: view,
          where: { field: 'owner', equals },
        });
        return { selected, documents: [...documents].sort((a, b) => (a.id < b.id ? -1 : 1)) };
      };
      t.deepEqual(await read({ limit: 9 }), {
        selected: ['p1', 'p3', 'p5'],
        documents: [first.document, last.document],
      });
      t.deepEqual(await read({ limit: 2 }), { selected: ['p1', 'p3'], documents: [first.document] });
      t.deepEqual(await read({ limit: 2, after: 'p3' }), { selected: ['p5'], documents: [last.document] });
      t.deepEqual((await read({ limit: 2, descending: true })).selected, ['p5', 'p3']);
      t.deepEqual((await read({ limit: 2, descending: true, after: 'p3' })).selected, ['p1']);
      t.deepEqual(await read({ limit: 9 }, 'eve'), { selected: [], documents: [] });
      t.deepEqual(await read({ limit: 0 }), { selected: [], documents: [] });
    },
  );

  test.serial('One call reads a document of each of several collections, tombstones included', async (t) => {
    const store = await withProjects(t);
    await store.ensureCollection(ownersView, []);
    await store.write(ownersView, [
      wholeFold('p1', 7n, { 'a.b': '$x', id1: 'y', found1: [] }),
      wholeFold("'$p$", 8n, {}),
    ]);
    const read = async (...names: readonly (readonly [string, string])[]) =>
      store.getEach(names.map(([collection, id]) => ({ collection, id })));
    const [inView, inOwners, tombstone, none, odd] = await read(
      [view, 'p1'],
      [ownersView, 'p1'],
      [view, 'p6'],
      [ownersView, 'p6'],
      [ownersView, "'$p$"],
    );
    t.deepEqual(inView, await store.get(view, 'p1'));
    t.deepEqual(inOwners, { id: 'p1', revision: 7n, body: { 'a.b': '$x', id1: 'y', found1: [] } });
    t.deepEqual(tombstone, { id: 'p6', revision: 4n, body: null });
    t.is(none, null);
    t.like(odd, { id: "'$p$", revision: 8n });
    t.deepEqual(await read(), []);
    t.deepEqual(await read([view, 'absent']), [null]);
    const first = await read([view, 'absent'], ['no.1', 'absent'], [view, 'p6'], [view, 'p6']);
    t.deepEqual(first, [null, null, tombstone, tombstone]);
  });

  test.serial('A scan returns all documents in order of id, tombstones included, in pages', async (t) => {
    const store = await withProjects(t);
    t.deepEqual(ids(await store.scan(view, { limit: 10 })), ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7']);
    t.deepEqual(ids(await store.scan(view, { limit: 3 })), ['p1', 'p2', 'p3']);
    t.deepEqual(ids(await store.scan(view, { after: 'p3', limit: 3 })), ['p4', 'p5', 'p6']);
    t.deepEqual(await store.scan(view, { after: 'p3', limit: 1 }), [{ id: 'p4', revision: 0n, body: null }]);
    t.deepEqual(await store.scan(view, { after: 'p7', limit: 3 }), []);
  });

  test.serial('Ids sort as bytes and match exactly', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    const sorted = [
      ' ',
      '$x',
      '%',
      '.',
      '10',
      '9',
      'A',
      'A_',
      'AA',
      'Z',
      '_',
      '__proto__',
      "a'b",
      'a',
      'a.b',
      'a/b',
    ];
    sorted.push('constructor', 'é', 'é'.normalize('NFD'), '日本', '日本語');
    sorted.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    await store.write(
      view,
      sorted.toReversed().map((id) => wholeFold(id, 0n, { id })),
    );
    t.deepEqual(ids(await store.scan(view, { limit: 100 })), sorted);
    t.deepEqual(await found(store, { limit: 100, descending: true }), sorted.toReversed());
    for (const id of sorted) t.deepEqual(await store.get(view, id), { id, revision: 0n, body: { id } });
  });

  test.serial('Pages visit every document once for all kinds of ids', async (t) => {
    const store = await makeStore(t);
    await store.ensureCollection(view, []);
    const all = [
      '\u{ffee}x',
      '😀',
      '\u{10fffe}',
      'z',
      '',
      'é',
      ...Array.from({ length: 20 }, (_, n) => `u-${n}`),
    ];
    await store.write(
      view,
      all.filter((id) => id !== '').map((id) => wholeFold(id, 0n, { id })),
    );
    const visited: string[] = [];
    for (let page = await store.scan(view, { limit: 4 }); page.length > 0;) {
      visited.push(...ids(page));
      page = await store.scan(view, { after: visited.at(-1) ?? '', limit: 4 });
    }
    t.deepEqual(visited.toSorted(), all.filter((id) => id !== '').toSorted());
  });

  test.serial('Collections are separate from one another', async (t) => {
    const store = await withProjects(t);
    await store.ensureCollection('projects@2.2', indexes);
    t.deepEqual(await store.scan('projects@2.2', { limit: 10 }), []);
    await store.write('projects@2.2', [wholeFold('p1', 9n, { owner: 'eve' })]);
    t.is((await store.get(view, 'p1'))?.revision, 0n);
    t.is((await store.get('projects@2.2', 'p1'))?.revision, 9n);
  });
}

async function found(store: ReadModelStore, query: DocumentQuery): Promise<string[]> {
  return ids(await store.find(view, query));
}

async function inOrder(store: ReadModelStore, query: OrderedQuery): Promise<string[]> {
  return ids(await store.findInOrder(view, query));
}

function ids(documents: readonly StoredDocument[]): string[] {
  return documents.map(({ id }) => id);
}
