import test from 'ava';
import type { DocumentQuery, StoredDocument } from '../../../src/event-sourcing/ports/read-model-store.js';
import { makeSelections } from '../../../src/stores/embedded/documents/selections.js';
import { makeSeededRandom } from '../../support/fakes/clock.js';
import { givenDirectory, openDocuments } from '../../support/servers/embedded-directory.js';

const collection = 'projects@1.1';
const owners = ['ada', 'bob', 'cleo', 'dan'];
const steps = 3_000;

function documentOf(revision: bigint, owner: string): StoredDocument {
  return { id: 'p1', revision, body: { owner_ids: [owner] } };
}

test('Lists by a value are those of the documents, after any sequence of writes', async (t) => {
  // Given documents with some owners each, and a service that has asked for lists before
  const random = makeSeededRandom(41);
  const draw = (max: number): number => Math.floor(random() * max);
  const stores = await openDocuments(givenDirectory(t));
  t.teardown(() => stores.close());
  const store = stores.readModelStore;
  await store.ensureCollection(collection, ['owner_ids']);
  const documents = new Map<string, StoredDocument>();
  const queries = owners.flatMap((owner) =>
    [false, true].flatMap((descending) =>
      [1, 3, 100].map((limit) => ({ where: { field: 'owner_ids', equals: owner }, descending, limit })),
    ),
  );
  const expected = ({ descending = false, limit }: DocumentQuery, owner: string): readonly string[] => {
    const ids = [...documents.values()]
      .filter(({ body }) => (body?.['owner_ids'] as string[] | undefined)?.includes(owner) === true)
      .map(({ id }) => id)
      .sort();
    return (descending ? ids.reverse() : ids).slice(0, limit);
  };
  let pending: Promise<unknown>[] = [];
  for (let step = 0; step < steps; step += 1) {
    // When documents are written, some at once, some lose all owners, and some are deleted
    const id = `p${draw(30)}`;
    const revision = (documents.get(id)?.revision ?? -1n) + 1n;
    const body = draw(8) === 0 ? null : { owner_ids: owners.filter(() => draw(3) === 0) };
    const document = { id, revision, body };
    documents.set(id, document);
    pending.push(store.write(collection, [{ document, foldedFrom: 'whole-stream' }]));
    // A list that is asked for meanwhile has what is in the file now
    if (draw(3) === 0) pending.push(store.find(collection, queries[draw(queries.length)] as DocumentQuery));
    if (draw(4) > 0) continue;
    await Promise.all(pending);
    pending = [];
    // Then each list has them
    const query = queries[draw(queries.length)] as (typeof queries)[number];
    const ids = expected(query, query.where.equals);
    const found = draw(2) === 0 ? await store.ids(collection, query) : await store.find(collection, query);
    const listed = found.map((one) => (typeof one === 'string' ? one : one.id));
    t.deepEqual(listed, ids, `step ${step}: ${JSON.stringify(query)}`);
  }
});

test('A list is forgotten where the process does not know the document before a write, or knows a later one', (t) => {
  const byAda = { where: { field: 'owner_ids', equals: 'ada' }, limit: 100 };
  const [first, second, third] = [documentOf(1n, 'ada'), documentOf(2n, 'bob'), documentOf(3n, 'cleo')];
  // A read may have met the third revision before the thread reports the second one
  for (const [known, ids] of [
    [first, []],
    [undefined, undefined],
    [third, undefined],
    [second, undefined],
  ] as const) {
    const selections = makeSelections();
    selections.set(collection, byAda, ['p1']);
    selections.changed(collection, known, second);
    t.deepEqual(selections.get(collection, byAda), ids);
  }
});

test('A list stays in the order of its bytes, as in the file', async (t) => {
  const stores = await openDocuments(givenDirectory(t));
  t.teardown(() => stores.close());
  const store = stores.readModelStore;
  await store.ensureCollection(collection, ['owner_ids']);
  const ids = ['a', 'b', '\uFFFD', '\u{1F600}'];
  for (const descending of [false, true]) {
    const owner = `ada, ${descending}`;
    const byAda = { where: { field: 'owner_ids', equals: owner }, descending, limit: 100 };
    await store.find(collection, byAda);
    for (const id of ['b', '\u{1F600}', '\uFFFD', 'a']) {
      const document = { id, revision: BigInt(descending), body: { owner_ids: [owner] } };
      await store.write(collection, [{ document, foldedFrom: 'whole-stream' }]);
    }
    t.deepEqual(await store.ids(collection, byAda), descending ? ids.toReversed() : ids);
  }
});

test('A document stays in a list when its value becomes another text that is stored as the same one', (t) => {
  const selections = makeSelections();
  const query = { where: { field: 'owner_ids', equals: 'ada\uFFFD' }, limit: 100 };
  selections.set(collection, query, ['p1']);
  selections.changed(collection, documentOf(1n, 'ada\uD800'), documentOf(2n, 'ada\uFFFD'));
  t.deepEqual(selections.get(collection, query), ['p1']);
});

test('Of the limits that clients choose for a list, only the last ones are kept', (t) => {
  const selections = makeSelections();
  const limits = Array.from({ length: 200 }, (_, n) => n + 1);
  const queryOf = (limit: number) => ({ where: { field: 'owner_ids', equals: 'ada' }, limit });
  for (const limit of limits) selections.set(collection, queryOf(limit), ['p1']);
  const kept = limits.filter((limit) => selections.get(collection, queryOf(limit)) !== undefined);
  t.deepEqual(kept, limits.slice(-8));
});
