import { isDeepStrictEqual } from 'node:util';
import test from 'ava';

import { auditCollection } from '../../../../src/areas/audit/tree/tile-store.js';
import { edgeOf } from '../../../../src/areas/audit/tree/tiles.js';
import type {
  ReadModelStore,
  StoredDocument,
} from '../../../../src/event-sourcing/ports/read-model-store.js';
import {
  type AuditProcess,
  givenAuditStores,
  makeAuditEvent,
  readWholeLog,
  rootOfEvents,
} from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { makeMemoryReadModelStore } from '../../../support/fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../../../support/fakes/memory-state-store.js';
import { loseTiles, treeRead } from '../../../support/given/audit-signing.js';

async function documentsOf(store: ReadModelStore): Promise<readonly StoredDocument[]> {
  return store.scan(auditCollection, { limit: 10_000 });
}

async function atSize(process: AuditProcess, size: number): Promise<void> {
  await eventually(`${size} events are sequenced`, () => {
    const log = process.sequencer.stored();
    return log?.size === size && log.atHead;
  });
}

for (const size of [1, 255, 256, 257, 700]) {
  test(`The tree over ${size} events has the root that RFC 9162 defines, in memory and in the tiles`, async (t) => {
    const given = givenAuditStores(size);
    await given.append(size);
    const process = given.start();
    await atSize(process, size);
    const events = await readWholeLog(given.eventStore);
    t.is(events.length, size);
    t.deepEqual(process.sequencer.stored()?.root, rootOfEvents(events));
    for (const smaller of [1, Math.ceil(size / 3), size]) {
      t.deepEqual(await process.tree.rootAt(smaller), rootOfEvents(events.slice(0, smaller)));
    }
    await process.stop();
  });
}

test('A process that goes on from the stored tiles ends in the documents of one that began at the start', async (t) => {
  // Given a log that grows between the runs of several processes
  const given = givenAuditStores(7);
  let size = 0;
  for (const more of [10, 300, 1, 212, 600]) {
    await given.append(more);
    size += more;
    const process = given.start();
    await atSize(process, size);
    await process.stop();
  }
  // When another process sequences the log into an empty store
  const readModelStore = makeMemoryReadModelStore();
  const fresh = given.start({ readModelStore });
  await atSize(fresh, size);
  await fresh.stop();
  // Then both stores hold the same documents, and full tiles have filters
  const documents = await documentsOf(readModelStore);
  t.deepEqual(await documentsOf(given.readModelStore), documents);
  t.deepEqual(
    documents.filter(({ id }) => id.startsWith('filter/')).map(({ id }) => id),
    Array.from({ length: Math.floor(size / 256) }, (_, index) => `filter/${index}`),
  );
});

test('A log that is short for a moment when a process goes on leaves no filter without its terms', async (t) => {
  // Given a log whose partial tile another process has stored
  const given = givenAuditStores(9);
  const { eventStore } = given;
  await given.append(100);
  const first = given.start();
  await atSize(first, 100);
  await first.stop();
  await given.append(200);
  // When the next process reads only some of its events at first
  let reads = 0;
  const second = given.start({
    eventStore: {
      ...eventStore,
      shortLogMs: 3_600_000,
      readAll: async (options) => {
        const page = await eventStore.readAll(options);
        const events = page.events.slice(0, 40);
        const cursor = events.at(-1)?.position ?? null;
        return (reads += 1) > 1 ? page : { ...page, events, cursor, atHead: true };
      },
    },
  });
  await atSize(second, 300);
  await second.stop();
  // Then the documents are those of a process that began at the start
  const readModelStore = makeMemoryReadModelStore();
  const fresh = given.start({ readModelStore });
  await atSize(fresh, 300);
  await fresh.stop();
  t.deepEqual(await documentsOf(given.readModelStore), await documentsOf(readModelStore));
});

test('Processes that write side by side make one tree', async (t) => {
  const given = givenAuditStores(8);
  const processes = [given.start(), given.start(), given.start(), given.start()];
  await given.append(700);
  for (const process of processes) await atSize(process, 700);
  const root = rootOfEvents(await readWholeLog(given.eventStore));
  for (const process of processes) {
    t.deepEqual(process.sequencer.stored()?.root, root);
    t.is(process.sequencer.problem(), null);
    t.deepEqual(await process.tree.rootAt(700), root);
  }
  await Promise.all(processes.map((process) => process.stop()));
});

test('Tiles that were deleted are written again from the log, also while a process runs', async (t) => {
  const given = givenAuditStores(9);
  await given.append(1_000);
  const process = given.start();
  await atSize(process, 1_000);
  const before = await documentsOf(given.readModelStore);
  // When the tiles go, a read of them asks for new ones
  await given.readModelStore.dropCollection(auditCollection);
  await t.throwsAsync(process.tree.rootAt(1_000), { name: 'StoreUnavailable' });
  // Then the same documents come back, although each read on the way misses a tile
  await treeRead('the tree can be read', () => process.tree.rootAt(1_000));
  await eventually('the tiles are back', async () =>
    isDeepStrictEqual(await documentsOf(given.readModelStore), before),
  );
  t.deepEqual(process.sequencer.stored()?.root, await process.tree.rootAt(1_000));
  await process.stop();
});

test('A stored tile that differs from the log is a contradiction, and no checkpoint is signed', async (t) => {
  // Given a stored tile of another log
  const given = givenAuditStores(10);
  await given.append(300);
  const first = given.start();
  await atSize(first, 300);
  await first.stop();
  const [tile] = await given.readModelStore.getMany(auditCollection, ['tile/0/0']);
  const hashes = Buffer.from(tile?.body?.['hashes'] as string, 'base64');
  hashes[5] = (hashes[5] ?? 0) ^ 1;
  await loseTiles(given.readModelStore);
  if (tile === undefined) throw new Error('no tile');
  const body = { ...tile.body, hashes: hashes.toString('base64') };
  await given.readModelStore.write(auditCollection, [
    { document: { ...tile, body }, foldedFrom: 'whole-stream' },
  ]);
  // When a process sequences the log
  const process = given.start({ stateStore: makeMemoryStateStore({ clock: given.clock }) });
  // Then it reports the contradiction and signs nothing
  await eventually('the contradiction is reported', () => process.audit.status().contradiction !== null);
  t.like(process.audit.status().contradiction, {
    source: 'tiles',
    what: 'the stored tile 0/0 holds other hashes than the log',
  });
  t.is(await process.audit.readSigned(), null);
  await process.stop();
});

test('An event that has no canonical form stops the sequencing at its place, and later events are not signed', async (t) => {
  const given = givenAuditStores(11);
  await given.append(5);
  const broken = { ...makeAuditEvent(given.random, 5), data: { name: '\ud83d' } };
  await given.eventStore.append('asset-broken', 'no-stream', [broken]);
  await given.eventStore.append('asset-later', 'no-stream', [makeAuditEvent(given.random, 6)]);
  const process = given.start();
  await eventually('the problem is reported', () => process.sequencer.problem() !== null);
  t.is(process.sequencer.problem()?.kind, 'unreadable-event');
  t.regex(
    process.sequencer.problem()?.reason ?? '',
    /revision 0 of the stream asset-broken .* half a surrogate pair/,
  );
  await eventually('the events before it are stored', () => process.sequencer.stored()?.size === 5);
  await process.stop();
  t.is(await process.audit.readSigned(), null);
});

test('The right edge of a tree names its partial tiles', (t) => {
  t.deepEqual(edgeOf(0), []);
  t.deepEqual(edgeOf(256), [{ level: 1, index: 0, width: 1 }]);
  t.deepEqual(edgeOf(65_536 + 256 + 3), [
    { level: 0, index: 257, width: 3 },
    { level: 1, index: 1, width: 1 },
    { level: 2, index: 0, width: 1 },
  ]);
});
