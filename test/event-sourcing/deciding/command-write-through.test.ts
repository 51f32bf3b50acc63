import test, { type ExecutionContext } from 'ava';
import { makeDocumentWriter } from '../../../src/event-sourcing/views/document-writer.js';
import { PreconditionFailed, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { requestRebuild } from '../../../src/event-sourcing/views/generations/rebuild.js';
import {
  counterAggregate,
  type CounterCommand,
  countersProjection,
  contextOf,
} from '../../support/kernel/counters.js';
import { type Fault, type FaultPlan, faultyReadModelStore } from '../../support/kernel/faulty-stores.js';
import { type GivenProcess, givenProcess, sendToCounter, givenWorld } from '../../support/kernel/world.js';
import type { VirtualClock } from '../../support/kernel/virtual-clock.js';
import { recordsCollection } from '../../../src/event-sourcing/ports/records.js';

const open: CounterCommand = { type: 'Open', label: 'a' };
const close: CounterCommand = { type: 'Close' };
const add = (n: number): CounterCommand => ({ type: 'Add', operation: `o${n}`, amounts: [n] });
const live = 'counters@1.1';

interface Scene {
  readonly clock: VirtualClock;
  readonly log: EventStore;
  /** The stored documents. */
  readonly documents: ReadModelStore;
  readonly process: GivenProcess;
  /** Makes each of these operations fail from now on. Null ends the failures. */
  readonly breakDown: (fault: Fault | null, ...operations: readonly string[]) => void;
  readonly anotherProcess: () => Promise<GivenProcess>;
}

async function given(): Promise<Scene> {
  const world = givenWorld();
  const { clock, eventStore: log, readModelStore: documents } = world;
  let broken: { readonly fault: Fault | null; readonly operations: readonly string[] } = {
    fault: null,
    operations: [],
  };
  const plan: FaultPlan = (operation) => ({
    fault: broken.operations.includes(operation) ? broken.fault : null,
    delayMs: 0,
    lateMs: 60_000,
  });
  const readModelStore = faultyReadModelStore(documents, { clock, plan });
  return {
    clock,
    log,
    documents,
    process: await givenProcess({ ...world, readModelStore }),
    breakDown: (fault, ...operations) => {
      broken = { fault, operations };
    },
    anotherProcess: () => givenProcess(world),
  };
}

test('The documents of a stream are settled after they are written or have failed to be written', async (t) => {
  const { process, clock, documents } = await given();
  let fail = (): void => undefined;
  const held = new Promise<never>((_, reject) => {
    fail = () => reject(new StoreUnavailable('away'));
  });
  const writer = makeDocumentWriter({
    generations: process.generations,
    readModelStore: { ...documents, write: () => held },
    clock,
    onFailure: () => undefined,
  });
  const document = { id: 'c1', revision: 0n, body: null };
  const writing = writer.write(new Map([[countersProjection.name, document]]), { mustSucceed: false });
  let settled = false;
  void writer.settled().then(() => (settled = true));
  await clock.advance(0);
  t.false(settled);
  fail();
  await writing;
  await clock.advance(0);
  t.true(settled);
  await t.notThrowsAsync(writer.settled(), 'nothing is being written any more');
});

async function totalOf(t: ExecutionContext, { views }: GivenProcess, id: string): Promise<unknown> {
  const document = await views.of(countersProjection).get(id);
  t.not(document, null);
  return document?.body.total;
}

test('The projector of a process reads no document that a command of the process has written', async (t) => {
  // Given a process that feeds the views, and another one
  const world = givenWorld();
  const { clock, readModelStore: documents } = world;
  const read = new Set<string>();
  const readModelStore: ReadModelStore = {
    ...documents,
    getMany: (collection, ids) => {
      if (collection !== recordsCollection) for (const id of ids) read.add(`${collection}/${id}`);
      return documents.getMany(collection, ids);
    },
  };
  const feeding = await givenProcess({ ...world, readModelStore });
  const other = await givenProcess(world);
  const projections = await feeding.startProjections();
  await clock.advance(2_000);
  read.clear();
  // When both handle commands
  await sendToCounter(feeding.handler, 'own', open, 0);
  await sendToCounter(feeding.handler, 'own', add(5), 1);
  await sendToCounter(other.handler, 'other', open, 2);
  await clock.advance(5_000);
  // Then the views have all, and only the documents of the other process were read
  t.is(projections.statuses().filter(({ state }) => state === 'live').length, 2);
  t.deepEqual([...read].sort(), ['counter_labels@1.1/other', `${live}/other`]);
  await projections.stop();
});

test('A caller reads its own writes in every view, without a projector', async (t) => {
  const { process, documents } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  const handled = await sendToCounter(process.handler, 'c1', add(5), 1);
  const stored = await documents.get(live, 'c1');
  t.like(stored, { id: 'c1', revision: 1n, body: { label: 'a', total: 5, additions: 1 } });
  t.deepEqual(handled.documents.get('counters'), stored ?? undefined);
  t.deepEqual(await documents.get('counter_labels@1.1', 'c1'), {
    id: 'c1',
    revision: 1n,
    body: { label: 'a' },
  });
  t.is(await totalOf(t, process, 'c1'), 5);
});

test('The documents carry the time of the decision', async (t) => {
  const { process, clock, documents } = await given();
  await clock.advance(60_000);
  await process.generations.refresh();
  await sendToCounter(process.handler, 'c1', open, 0);
  t.is((await documents.get(live, 'c1'))?.body?.['updated_at'], contextOf(0).time.toISOString());
});

test('The write-through folds the whole stream, however little the documents contain', async (t) => {
  const { process, anotherProcess, documents } = await given();
  // These are commands of another process whose write-through fails.
  const { handler } = await anotherProcess();
  await sendToCounter(handler, 'c1', open, 0);
  for (let n = 1; n <= 9; n += 1) await sendToCounter(handler, 'c1', add(n), n);
  await documents.dropCollection(live);
  await documents.ensureCollection(live, ['label']);
  await sendToCounter(process.handler, 'c1', add(10), 10);
  t.like(await documents.get(live, 'c1'), { revision: 10n, body: { total: 55, additions: 10 } });
});

test('A deletion leaves a tombstone that reads as no document', async (t) => {
  const { process, documents } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  await sendToCounter(process.handler, 'c1', close, 1);
  t.deepEqual(await documents.get(live, 'c1'), { id: 'c1', revision: 1n, body: null });
  t.is(await process.views.of(countersProjection).get('c1'), null);
});

test('A late write-through does not change a later document', async (t) => {
  const { process, anotherProcess, clock, breakDown, documents } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  breakDown('late', 'write');
  await sendToCounter(process.handler, 'c1', add(1), 1);
  const { handler } = await anotherProcess();
  await sendToCounter(handler, 'c1', add(2), 2);
  await clock.advance(120_000);
  t.like(await documents.get(live, 'c1'), { revision: 2n, body: { total: 3 } });
});

test('A view that is being rebuilt is written in both generations', async (t) => {
  const { process, documents, clock } = await given();
  t.is(await requestRebuild(process.generations, countersProjection, clock.now()), 2);
  await sendToCounter(process.handler, 'c1', open, 0);
  t.deepEqual(await documents.get('counters@1.2', 'c1'), await documents.get(live, 'c1'));
  t.like(await documents.get('counters@1.2', 'c1'), { revision: 0n });
});

test('A reply leaves when the documents cannot be written, and the failure is reported', async (t) => {
  const { process, breakDown, log } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  breakDown('before', 'write');
  const handled = await sendToCounter(process.handler, 'c1', add(1), 1);
  t.is(handled.revision, 1n);
  t.is((await log.read('counter-c1')).length, 2);
  t.is(process.reports.length, 1);
  t.regex(process.reports[0] ?? '', /^write-through: StoreUnavailable/);
});

test('A reply waits at most 2 s for the documents', async (t) => {
  const { process, breakDown, clock } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  breakDown('hang', 'write');
  const startMs = clock.now().getTime();
  await clock.run(sendToCounter(process.handler, 'c1', add(1), 1));
  t.is(clock.now().getTime() - startMs, 2_000);
  t.is(process.reports.length, 1);
});

const revoking = { revokesAccess: true };
const target = { aggregate: counterAggregate, id: 'c1' };

test('The reply to an urgent command does not wait for the documents', async (t) => {
  const { process, breakDown, clock, documents } = await given();
  await process.handler.handle(target, open, contextOf(0), { isUrgent: true });
  await clock.advance(0);
  t.like(await documents.get(live, 'c1'), { revision: 0n });
  breakDown('hang', 'write');
  const startMs = clock.now().getTime();
  const handled = await clock.run(process.handler.handle(target, add(1), contextOf(1), { isUrgent: true }));
  t.is(handled.revision, 1n);
  t.is(clock.now().getTime(), startMs);
  await clock.advance(2_000);
  t.is(process.reports.length, 1);
});

for (const fault of ['before', 'hang'] as const) {
  test(`A command that takes access away is unavailable until its documents are written, and a repetition writes them: ${fault}`, async (t) => {
    const { process, breakDown, clock, log } = await given();
    await sendToCounter(process.handler, 'c1', open, 0);
    breakDown(fault, 'write');
    await t.throwsAsync(clock.run(process.handler.handle(target, close, contextOf(1), revoking)), {
      instanceOf: StoreUnavailable,
    });
    t.is((await log.read('counter-c1')).length, 2, 'the event is stored');
    await clock.run(process.generations.refresh());
    t.not(await process.views.of(countersProjection).get('c1'), null, 'the document still gives access');

    /** Makes each of these operations fail from now on. Null ends the failures. */
    breakDown(null);
    const repeated = await process.handler.handle(target, close, contextOf(1), revoking);
    t.deepEqual(repeated.events, []);
    t.is(await process.views.of(countersProjection).get('c1'), null);
  });
}

test('A command that takes access away writes the missing documents also where If-Match refuses its repetition', async (t) => {
  const { process, breakDown } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  breakDown('before', 'write');
  const options = { ...revoking, expectedRevision: 0n };
  await t.throwsAsync(process.handler.handle(target, close, contextOf(1), options), {
    instanceOf: StoreUnavailable,
  });
  t.not(await process.views.of(countersProjection).get('c1'), null, 'the document still gives access');

  breakDown(null);
  await t.throwsAsync(process.handler.handle(target, close, contextOf(1), options), {
    instanceOf: PreconditionFailed,
  });
  t.is(await process.views.of(countersProjection).get('c1'), null);
});

test('A repetition in another process writes the missing documents', async (t) => {
  const { process, anotherProcess, breakDown } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  breakDown('before', 'write');
  await t.throwsAsync(process.handler.handle(target, close, contextOf(1), revoking));
  const { handler, views } = await anotherProcess();
  await handler.handle(target, close, contextOf(1), revoking);
  t.is(await views.of(countersProjection).get('c1'), null);
});

test('A process with an outdated registry takes no access away', async (t) => {
  const { process, clock, breakDown } = await given();
  await sendToCounter(process.handler, 'c1', open, 0);
  breakDown('before', 'getMany of records');
  await clock.advance(10_001);
  await t.throwsAsync(process.handler.handle(target, close, contextOf(1), revoking), {
    instanceOf: StoreUnavailable,
  });
  const handled = await sendToCounter(process.handler, 'c2', open, 2);
  t.is(handled.revision, 0n, 'a command that takes no access away is answered');
});

test('No write begins when the registry is fresh for one view only', async (t) => {
  const world = givenWorld();
  const { clock } = world;
  let writes = 0;
  const process = await givenProcess({
    ...world,
    readModelStore: {
      ...world.readModelStore,
      write: (collection, documents) => {
        if (collection === recordsCollection) return world.readModelStore.write(collection, documents);
        writes += 1;
        return Promise.reject(new StoreUnavailable('no answer'));
      },
    },
  });
  await clock.advance(6_000);
  // A change of a view's record reads that record again.
  await requestRebuild(process.generations, countersProjection, clock.now());
  await clock.advance(6_000);
  await sendToCounter(process.handler, 'c1', open, 0);
  t.is(process.reports.length, 1);
  t.is(writes, 0);
});
