import test from 'ava';
import { StoreUnavailable, UndecodableEvent } from '../../../src/event-sourcing/ports/errors.js';
import { makeViews } from '../../../src/event-sourcing/views/views.js';
import {
  type CounterCommand,
  counterLabelsProjection,
  countersProjection,
} from '../../support/kernel/counters.js';
import { givenProcess, handlerWithoutViews, sendToCounter, givenWorld } from '../../support/kernel/world.js';
import { recording } from '../../support/kernel/faulty-stores.js';

const open: CounterCommand = { type: 'Open', label: 'a' };
const close: CounterCommand = { type: 'Close' };
const live = 'counters@1.1';

async function given() {
  const world = givenWorld();
  const { clock, eventStore: log, readModelStore: documents } = world;
  const seen = recording(log, () => clock.now().getTime());
  const process = await givenProcess({ ...world, eventStore: seen.store });
  return {
    ...{ clock, log, documents, process },
    /** Sends commands whose documents are not written. */
    behind: handlerWithoutViews(world),
    reads: seen.reads,
    /** Drops the documents, as if no projector had come this far. */
    forget: async () => {
      await documents.dropCollection(live);
      await documents.ensureCollection(live, ['label']);
      seen.reads.length = 0;
    },
  };
}

test('A stored document is returned with its revision, and the stream is not read', async (t) => {
  const { process, reads } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  reads.length = 0;
  t.like(await process.views.of(countersProjection).get('c1'), {
    id: 'c1',
    revision: 0n,
    body: { label: 'a', total: 0 },
  });
  t.is(reads.length, 0);
});

test('A read without a stored document folds the stream before it returns nothing', async (t) => {
  const { process, forget, reads } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  await sendToCounter(process.handler, 'c1', { type: 'Add', operation: 'o1', amounts: [4] }, 1);
  await forget();
  t.like(await process.views.of(countersProjection).get('c1'), { revision: 1n, body: { total: 4 } });
  t.is(await process.views.of(countersProjection).get('c2'), null);
  t.deepEqual(
    reads.map(({ stream }) => stream),
    ['counter-c1', 'counter-c2'],
  );
});

test('A tombstone reads as no document, stored or folded', async (t) => {
  const { process, forget, reads } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  await sendToCounter(process.handler, 'c1', close, 1);
  reads.length = 0;
  t.is(await process.views.of(countersProjection).get('c1'), null);
  t.is(reads.length, 0, 'the tombstone makes a read of the stream unnecessary');
  await forget();
  t.is(await process.views.of(countersProjection).get('c1'), null);
  t.like(await process.views.of(counterLabelsProjection).get('c1'), { revision: 1n, body: { label: 'a' } });
});

test('A search finds documents by their fields in order of id, without tombstones', async (t) => {
  const { process } = await given();
  const labels = { c3: 'a', c1: 'a', c2: 'b', c4: 'a' };
  for (const [id, label] of Object.entries(labels)) {
    await sendToCounter(process.handler, id, { type: 'Open', label }, 0);
  }
  await sendToCounter(process.handler, 'c3', close, 1);
  const found = await process.views
    .of(countersProjection)
    .find({ where: { field: 'label', equals: 'a' }, limit: 10 });
  t.deepEqual(
    found.map(({ id }) => id),
    ['c1', 'c4'],
  );
});

test('A list of a stale collection ends only where the collection does, also after removals that it lacks', async (t) => {
  const { process, log: eventStore, documents: readModelStore, behind } = await given();
  for (const id of ['c1', 'c2', 'c3', 'c4']) await sendToCounter(process.handler, id, open, 0);
  for (const id of ['c2', 'c3']) await sendToCounter(behind, id, close, 1);
  const { generations } = process;
  const views = makeViews({ generations, eventStore, readModelStore, stale: new Set([live]) });
  const view = views.of(countersProjection);
  const where = { field: 'label', equals: 'a' };
  for (const descending of [false, true]) {
    const expected = descending ? ['c4', 'c1'] : ['c1', 'c4'];
    const found = await view.find({ where, descending, limit: 2 });
    t.deepEqual(
      found.map(({ id }) => id),
      expected,
    );
    const inOrder = await view.findInOrder({ orderBy: 'label', descending, limit: 2 });
    t.deepEqual(
      inOrder.map(({ id }) => id),
      expected,
    );
  }
});

test('Documents of several views are read in one call, and the log has those that the store lacks', async (t) => {
  const { process, log, documents, forget } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  await sendToCounter(process.handler, 'c2', open, 0);
  const calls: unknown[] = [];
  const readModelStore = {
    ...documents,
    getEach: (names: Parameters<typeof documents.getEach>[0]) => {
      calls.push(names.map(({ id }) => id));
      return documents.getEach(names);
    },
  };
  const views = makeViews({ generations: process.generations, eventStore: log, readModelStore });
  const read = async () => {
    const { documents } = await views.getEach(
      null,
      { projection: countersProjection, id: 'c1' },
      { projection: counterLabelsProjection, id: 'c2' },
      { projection: countersProjection, id: 'absent' },
    );
    return documents;
  };
  const stored = await read();
  t.like(stored[0], { id: 'c1', revision: 0n });
  t.like(stored[1], { id: 'c2', body: { label: 'a' } });
  t.is(stored[2], null);
  t.deepEqual(calls, [['c1', 'c2', 'absent']]);
  await forget();
  t.deepEqual(await read(), stored);
  const many = await views.of(countersProjection).getMany(['c2', 'absent', 'c1', 'c2']);
  t.deepEqual(many.map(({ id }) => id).sort(), ['c1', 'c2']);
});

test('The change token differs after a change and between generations', async (t) => {
  const { process } = await given();
  const view = process.views.of(countersProjection);
  const before = view.changeToken();
  t.is(view.changeToken(), before);
  await sendToCounter(process.handler, 'c1', open, 0);
  t.not(view.changeToken(), before);
  t.true(view.changeToken()?.startsWith(`${live}/`));
});

test('A process whose reading of the registry is older than 10 s returns nothing', async (t) => {
  const { process, clock } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  const view = process.views.of(countersProjection);
  await clock.advance(10_000);
  t.not(await view.get('c1'), null);
  await clock.advance(1);
  await t.throwsAsync(view.get('c1'), { instanceOf: StoreUnavailable });
  await t.throwsAsync(view.find({ limit: 1 }), { instanceOf: StoreUnavailable });
  const wanted = { projection: countersProjection, id: 'c1' };
  await t.throwsAsync(process.views.getEach(wanted), { instanceOf: StoreUnavailable });
  await t.throwsAsync(view.getMany(['c1']), { instanceOf: StoreUnavailable });
  t.throws(() => view.changeToken(), { instanceOf: StoreUnavailable });
  await process.generations.refresh();
  t.not(await view.get('c1'), null);
});

test('A clock that is set back makes the reading of the registry neither old nor new', async (t) => {
  const world = givenWorld();
  const { clock } = world;
  const { views } = await givenProcess(world);
  clock.set(-3_600_000);
  t.is(await views.of(countersProjection).get('c1'), null);
  await clock.advance(10_001);
  await t.throwsAsync(views.of(countersProjection).get('c1'), { instanceOf: StoreUnavailable });
});

test('A stream that cannot be folded is an error and does not read as nothing', async (t) => {
  const { process, log, forget } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  const [example] = await log.read('counter-c1');
  if (example === undefined) throw new Error('the counter has no event');
  await log.append('counter-c1', 0n, [
    { ...example, id: '00000000-0000-5000-8000-000000000001', type: 'Unknown' },
  ]);
  await forget();
  await t.throwsAsync(process.views.of(countersProjection).get('c1'), { instanceOf: UndecodableEvent });
});
