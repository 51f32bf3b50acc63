import test from 'ava';
import { findingMark, indexesOf } from '../../../projections/assets/assets/finding.js';
import { examinedMax } from '../../../projections/filtered-page.js';
import { listAssets } from '../../../projections/assets/assets/reader.js';
import type { AssetDocument } from '../../../projections/assets/assets/projection.js';
import type { ViewDocument } from '../../../src/event-sourcing/views/views.js';
import { partial } from '../../support/fakes/partial.js';

/** A view of so many assets with short names, of which the last one is named Sought. */
function givenView(count: number) {
  let read = 0;
  const documents = Array.from({ length: count }, (_, n): ViewDocument<AssetDocument> => {
    const name = n === count - 1 ? 'Sought' : 'x';
    const facts = { name, project_id: 'p', media_type: 'a/b', tags: [], created_at: '2026-01-01T00:00:00Z' };
    const id = String(n).padStart(6, '0');
    return { id, revision: 0n, body: partial<AssetDocument>({ ...facts, upload: 'complete' }) };
  });
  const find = ({ after = '', limit = 0 }: { readonly after?: string; readonly limit?: number }) => {
    const page = documents.filter(({ id }) => id > after).slice(0, limit);
    read += page.length;
    return Promise.resolve(page);
  };
  return { view: { find, findInOrder: () => Promise.resolve([]) }, readCount: () => read };
}

test('A search that finds little ends its page after a bound of documents, and goes on from there', async (t) => {
  // Given more assets than a page examines, of which the last one matches
  const { view, readCount } = givenView(2 * examinedMax + 1);
  const query = { filter: { q: '-Sought-' }, sort: 'created_at', limit: 20 } as const;
  // When pages are read
  let page = await listAssets(view, 'p', query);
  t.deepEqual(page.items, []);
  // The documents name this figure.
  t.is(readCount(), 200);
  let pages = 1;
  for (; page.next !== null; pages += 1) page = await listAssets(view, 'p', { ...query, after: page.next });
  // Then the last one has it
  t.is(pages, 3);
  t.deepEqual(
    page.items.map(({ body }) => body.name),
    ['Sought'],
  );
});

const asset = {
  ...{ project_id: 'p', storage_id: 's', object_key: 'k', renditions: [] },
  ...{ name: 'x', media_type: 'a/b', size: 1, tags: ['Wedding'] },
};

test('A search for assets that wait for their upload reads no complete asset', (t) => {
  for (const media_type of [undefined, 'a/b']) {
    const mark = findingMark('p', { media_type, upload: 'pending' }) ?? '';
    t.true(indexesOf({ ...asset, upload: 'pending' }).found_by.includes(mark));
    t.false(indexesOf({ ...asset, upload: 'complete' }).found_by.includes(mark));
  }
});

test('A search for complete assets of a tag reads no asset that waits for its upload', (t) => {
  const mark = findingMark('p', { tag: 'wedding', upload: 'complete' }) ?? '';
  t.true(indexesOf({ ...asset, upload: 'complete' }).found_by.includes(mark));
  t.false(indexesOf({ ...asset, upload: 'pending' }).found_by.includes(mark));
  const all = findingMark('p', { tag: 'wedding' }) ?? '';
  t.true(indexesOf({ ...asset, upload: 'pending' }).found_by.includes(all));
});
