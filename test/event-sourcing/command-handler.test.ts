import test from 'ava';
import type { CommandHandler } from '../../src/event-sourcing/command-handler.js';
import {
  CommandRejected,
  OutcomeUnknown,
  Overloaded,
  PreconditionFailed,
  UndecodableEvent,
} from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import { eventId } from '../../src/event-sourcing/ids.js';
import { makeCommandHandler } from '../../src/event-sourcing/make-command-handler.js';
import { makeSeededRandom } from '../support/clock.js';
import { counterAggregate, type CounterCommand } from '../support/counter-aggregate.js';
import { makeMemoryEventStore } from '../support/memory-event-store.js';
import { failNth, type FaultPlan, noFaults } from './support/faults.js';
import { faultyEventStore } from './support/faulty-stores.js';
import { contextOf, sendToCounter } from './support/given-process.js';
import { type Recording, recording } from './support/recording.js';
import { makeVirtualClock, type VirtualClock } from './support/virtual-clock.js';

const open: CounterCommand = { type: 'Open', label: 'a' };
const add = (n: number, ...amounts: readonly number[]): CounterCommand => ({
  type: 'Add',
  operation: `o${n}`,
  amounts: amounts.length === 0 ? [1] : amounts,
});

interface Scene extends Recording {
  readonly clock: VirtualClock;
  readonly handler: CommandHandler;
  /** The log itself, as another process sees it. */
  readonly log: EventStore;
  readonly makeHandler: (options?: {
    readonly cachedStreamsMax?: number;
    readonly wrap?: (store: EventStore) => EventStore;
  }) => CommandHandler;
}

/** Handlers without views over one log; `store` sees what they ask of it. */
function given({ plan = noFaults }: { plan?: FaultPlan } = {}): Scene {
  const clock = makeVirtualClock();
  const random = makeSeededRandom(1);
  const log = makeMemoryEventStore({ clock, random });
  const seen = recording(faultyEventStore(log, { clock, random, plan }), () => clock.now().getTime());
  const documentWriter = { viewsOf: () => [], write: () => Promise.resolve() };
  const makeHandler: Scene['makeHandler'] = ({
    cachedStreamsMax = 100,
    wrap = (store: EventStore) => store,
  } = {}) =>
    makeCommandHandler({ eventStore: wrap(seen.store), documentWriter, clock, random, cachedStreamsMax });
  return { ...seen, clock, log, makeHandler, handler: makeHandler() };
}

const target = { aggregate: counterAggregate, id: 'c1' };

test('a command appends what it decides, with ids made from its own and with who, why and when', async (t) => {
  const { handler, log } = given();
  await sendToCounter(handler, 'c1', open, 1);
  const handled = await sendToCounter(handler, 'c1', add(2, 5, 7), 2);
  t.is(handled.revision, 2n);
  t.deepEqual(
    handled.events.map(({ data }) => data),
    [
      { amount: 5, operation: 'o2' },
      { amount: 7, operation: 'o2' },
    ],
  );
  const stored = await log.read('counter-c1', { from: 1n });
  const { commandId, causationId, correlationId, actor, time } = contextOf(2);
  t.deepEqual(
    stored.map(({ id }) => id),
    [eventId(commandId, 'counter-c1', 0), eventId(commandId, 'counter-c1', 1)],
  );
  t.deepEqual(stored[0]?.metadata, {
    command_id: commandId,
    causation_id: causationId,
    correlation_id: correlationId,
    actor,
    time: time.toISOString(),
  });
});

test('a repeated command decides nothing, appends nothing and tells where the stream stands', async (t) => {
  const { handler, makeHandler, appends } = given();
  await sendToCounter(handler, 'c1', open, 1);
  await sendToCounter(handler, 'c1', add(2), 2);
  const before = appends.length;
  for (const process of [handler, makeHandler()]) {
    const repeated = await sendToCounter(process, 'c1', add(2), 2);
    t.deepEqual(repeated.events, []);
    t.is(repeated.revision, 1n);
  }
  t.is(appends.length, before);
});

test('a stream that does not exist loads as the initial state at no revision', async (t) => {
  const { handler } = given();
  t.deepEqual(await handler.load(counterAggregate, 'c1'), {
    state: counterAggregate.decider.initialState,
    revision: null,
  });
  const nothing = await sendToCounter(handler, 'c1', { type: 'Close' }, 1);
  t.deepEqual([nothing.events, nothing.revision], [[], null]);
});

test('a refused command appends nothing and holds up nobody', async (t) => {
  const { handler, log } = given();
  const refused = sendToCounter(handler, 'c1', add(1), 1);
  const opened = sendToCounter(handler, 'c1', open, 2);
  const error = await t.throwsAsync(refused, { instanceOf: CommandRejected });
  t.is(error.code, 'counter_not_open');
  await opened;
  t.is((await log.read('counter-c1')).length, 1);
});

test('commands on one stream queue in a process, so they lose no race with each other', async (t) => {
  const plan: FaultPlan = () => ({ fault: null, delayMs: 10, lateMs: 0 });
  const { handler, clock, appends } = given({ plan });
  await clock.run(sendToCounter(handler, 'c1', open, 0));
  const all = Array.from({ length: 50 }, (_, n) => sendToCounter(handler, 'c1', add(n), n + 1));
  const handled = await clock.run(Promise.all(all));
  t.deepEqual(
    handled.map(({ revision }) => revision),
    all.map((_, n) => BigInt(n + 1)),
  );
  t.is(appends.length, 51);
});

test('commands on different streams do not wait for each other', async (t) => {
  const plan: FaultPlan = () => ({ fault: null, delayMs: 10, lateMs: 0 });
  const { handler, clock } = given({ plan });
  const startMs = clock.now().getTime();
  const ids = Array.from({ length: 50 }, (_, n) => `c${n}`);
  await clock.run(Promise.all(ids.map((id, n) => sendToCounter(handler, id, open, n))));
  t.is(clock.now().getTime() - startMs, 20, 'one read and one append');
});

test('more than a thousand waiting for one stream are Overloaded', async (t) => {
  const { handler, clock } = given({ plan: () => ({ fault: null, delayMs: 2, lateMs: 0 }) });
  const all = Array.from({ length: 1_001 }, () => sendToCounter(handler, 'c1', open, 1));
  const outcomes = await clock.run(Promise.allSettled(all));
  t.deepEqual(
    outcomes
      .flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []))
      .map(({ name }) => name),
    ['Overloaded'],
  );
});

test('whoever loses a race loads and decides again', async (t) => {
  const { makeHandler, log, clock } = given({ plan: () => ({ fault: null, delayMs: 5, lateMs: 0 }) });
  const processes = Array.from({ length: 5 }, () => makeHandler());
  const [first] = processes;
  if (first === undefined) throw new Error('there are processes');
  await clock.run(sendToCounter(first, 'c1', open, 0));
  const all = processes.map((process, n) => sendToCounter(process, 'c1', add(n, 1, 1), n + 1));
  await clock.run(Promise.all(all));
  const { state } = await clock.run(first.load(counterAggregate, 'c1'));
  t.is(state.total, 10);
  t.is((await log.read('counter-c1')).length, 11);
});

/** A store in which somebody else is always a little faster. */
function overtaken(store: EventStore, log: EventStore): EventStore {
  let n = 0;
  return {
    ...store,
    append: async (stream, expected, events, options) => {
      n += 1;
      const faster = events.slice(0, 1).map((event) => ({
        ...event,
        id: `00000000-0000-5000-8000-${String(n).padStart(12, '0')}`,
        type: 'CounterAdded',
        data: { amount: 1, operation: `faster-${n}` },
      }));
      await log.append(stream, expected, faster);
      return store.append(stream, expected, events, options);
    },
  };
}

test('after 20 lost races, apart by jitter, a command is Overloaded', async (t) => {
  const { makeHandler, handler, clock, log, appends } = given();
  await sendToCounter(handler, 'c1', open, 0);
  appends.length = 0;
  const unlucky = makeHandler({ wrap: (store) => overtaken(store, log) });
  await t.throwsAsync(clock.run(sendToCounter(unlucky, 'c1', add(1), 1)), { instanceOf: Overloaded });
  t.is(appends.length, 20);
  const waits = appends.slice(1).map(({ atMs }, index) => atMs - (appends[index]?.atMs ?? NaN));
  waits.forEach((wait, attempt) => {
    t.true(wait <= Math.min(200, 2 * 2 ** attempt));
  });
  t.true(new Set(waits).size > 10);
});

test('a stream that was folded is brought up to date by reading only what follows', async (t) => {
  const { handler, makeHandler, reads } = given();
  await sendToCounter(handler, 'c1', open, 0);
  await sendToCounter(handler, 'c1', add(1), 1);
  await sendToCounter(makeHandler(), 'c1', add(2, 1, 1, 1), 2);
  reads.length = 0;
  const { state, revision } = await handler.load(counterAggregate, 'c1');
  t.deepEqual([state.total, revision], [4, 4n]);
  await handler.load(counterAggregate, 'c1');
  t.deepEqual(
    reads.map(({ from }) => from),
    [1n, 5n],
    'its own last event had not been read back yet',
  );
});

test('streams of thousands of events are read in whole', async (t) => {
  const { handler, makeHandler } = given();
  await sendToCounter(handler, 'c1', open, 0);
  const amounts = Array.from({ length: 1_300 }, () => 1);
  await sendToCounter(handler, 'c1', add(1, ...amounts), 1);
  const { state, revision } = await makeHandler().load(counterAggregate, 'c1');
  t.deepEqual([state.total, revision], [1_300, 1_300n]);
});

test('no more streams than told are kept in memory', async (t) => {
  const { makeHandler, reads } = given();
  const handler = makeHandler({ cachedStreamsMax: 2 });
  for (const id of ['c1', 'c2', 'c3']) {
    await sendToCounter(handler, id, open, 0);
    await handler.load(counterAggregate, id);
  }
  reads.length = 0;
  for (const id of ['c3', 'c2', 'c1']) await handler.load(counterAggregate, id);
  t.deepEqual(
    reads.map(({ stream, from }) => `${stream} from ${from}`),
    ['counter-c3 from 1', 'counter-c2 from 1', 'counter-c1 from 0'],
  );
});

test('decisions see when the store recorded an event, not when it was decided', async (t) => {
  const { handler, clock } = given();
  await clock.advance(60_000);
  await sendToCounter(handler, 'c1', open, 0);
  const { state } = await handler.load(counterAggregate, 'c1');
  t.deepEqual(state.changedAt, clock.now());
});

test('If-Match lets a command run at the revision it names only', async (t) => {
  const { handler, log } = given();
  await sendToCounter(handler, 'c1', open, 0);
  await t.throwsAsync(handler.handle(target, add(1), contextOf(1), { expectedRevision: 3n }), {
    instanceOf: PreconditionFailed,
  });
  await t.throwsAsync(handler.handle({ ...target, id: 'c2' }, open, contextOf(2), { expectedRevision: 0n }), {
    instanceOf: PreconditionFailed,
  });
  t.is((await log.read('counter-c1')).length, 1);
  t.is((await log.read('counter-c2')).length, 0);
  const handled = await handler.handle(target, add(3), contextOf(3), { expectedRevision: 0n });
  t.is(handled.revision, 1n);
});

test('a command under If-Match that loses a race has not seen what it would overwrite', async (t) => {
  const { handler, makeHandler, clock, log, appends } = given();
  await sendToCounter(handler, 'c1', open, 0);
  appends.length = 0;
  const unlucky = makeHandler({ wrap: (store) => overtaken(store, log) });
  await t.throwsAsync(clock.run(unlucky.handle(target, add(1), contextOf(1), { expectedRevision: 0n })), {
    instanceOf: PreconditionFailed,
  });
  t.is(appends.length, 1);
});

for (const fault of ['after', 'late', 'hang'] as const) {
  test(`an append without an answer is found or made by the same command: ${fault}`, async (t) => {
    const { handler, clock, log } = given({ plan: failNth(2, fault, (operation) => operation === 'append') });
    await sendToCounter(handler, 'c1', open, 0);
    const handled = await clock.run(sendToCounter(handler, 'c1', add(1, 1, 1), 1));
    t.is(handled.revision, 2n);
    t.is(handled.events.length, 2);
    await clock.advance(60_000);
    t.is((await log.read('counter-c1')).length, 3);
  });
}

test('an outcome that stays unknown is not called a success, and a repetition settles it', async (t) => {
  const late: FaultPlan = (operation) => ({
    fault: operation === 'append' && broken ? 'late' : null,
    delayMs: 0,
    lateMs: 30_000,
  });
  let broken = false;
  const { handler, clock, log } = given({ plan: late });
  await sendToCounter(handler, 'c1', open, 0);
  broken = true;
  await t.throwsAsync(clock.run(sendToCounter(handler, 'c1', add(1, 1, 1), 1)), {
    instanceOf: OutcomeUnknown,
  });
  broken = false;
  const repeated = await clock.run(sendToCounter(handler, 'c1', add(1, 1, 1), 1));
  t.is(repeated.revision, 2n);
  await clock.advance(60_000);
  t.is((await log.read('counter-c1')).length, 3, 'the late appends found their events written');
});

test('an event that cannot be decoded fails the commands of its stream, and of no other', async (t) => {
  const { handler, log, appends } = given();
  await sendToCounter(handler, 'c1', open, 0);
  const [example] = await log.read('counter-c1');
  if (example === undefined) throw new Error('the counter was opened');
  const unknown = { ...example, id: '00000000-0000-5000-8000-000000000001', type: 'CounterPainted' };
  await log.append('counter-c1', 0n, [unknown]);
  appends.length = 0;
  await t.throwsAsync(sendToCounter(handler, 'c1', add(1), 1), {
    instanceOf: UndecodableEvent,
    message: /CounterPainted .*counter-c1 at revision 1/,
  });
  await t.throwsAsync(handler.load(counterAggregate, 'c1'), { instanceOf: UndecodableEvent });
  await sendToCounter(handler, 'c2', open, 2);
  t.deepEqual(
    appends.map(({ stream }) => stream),
    ['counter-c2'],
  );
});
