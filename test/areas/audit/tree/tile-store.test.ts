import test from 'ava';

import { filterBytes } from '../../../../src/areas/audit/history/filter.js';
import { tileWidth } from '../../../../src/areas/audit/tree/tiles.js';
import { auditCollection, makeTileStore } from '../../../../src/areas/audit/tree/tile-store.js';
import type { JsonObject } from '../../../../src/event-sourcing/ports/domain-event.js';
import { makeMemoryReadModelStore } from '../../../support/fakes/memory-read-model-store.js';

async function givenDocument(id: string, body: JsonObject) {
  const store = makeMemoryReadModelStore();
  await store.ensureCollection(auditCollection, []);
  await store.write(auditCollection, [{ document: { id, revision: 0n, body }, foldedFrom: 'whole-stream' }]);
  return makeTileStore(store);
}

const base64 = (bytes: number): string => Buffer.alloc(bytes, 1).toString('base64');

for (const bytes of [0, 31, 33, 32 * (tileWidth + 1)]) {
  test(`A stored tile of ${bytes} bytes is damage that the error names`, async (t) => {
    const tiles = await givenDocument('tile/0/7', { hashes: base64(bytes) });
    await t.throwsAsync(tiles.readTiles([{ level: 0, index: 7 }]), {
      name: 'TilesDamaged',
      message: /^the document tile\/0\/7 of audit_log has another form/,
    });
  });
}

test('A tile of 1 and of 256 hashes is read as it is stored', async (t) => {
  for (const width of [1, tileWidth]) {
    const tiles = await givenDocument('tile/1/3', { hashes: base64(32 * width) });
    const [tile] = await tiles.readTiles([{ level: 1, index: 3 }]);
    t.like(tile, { level: 1, index: 3, range: null });
    t.is(tile?.hashes.length, width);
    // A hash that is kept keeps its tile, and no slab of Node's pool of buffers.
    t.is(tile?.hashes[0]?.buffer.byteLength, 32 * width);
  }
});

test('A stored filter of another size is damage: it would hide events from a search', async (t) => {
  const tiles = await givenDocument('filter/2', { bits: base64(filterBytes - 1) });
  await t.throwsAsync(tiles.readFilters([2]), { name: 'TilesDamaged' });
  const whole = await givenDocument('filter/2', { bits: base64(filterBytes) });
  t.deepEqual([...(await whole.readFilters([2])).keys()], [2]);
});
