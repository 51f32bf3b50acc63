import test from 'ava';
import type { CommandHandler, Loaded } from '../../src/event-sourcing/command-handler.js';
import type { Aggregate } from '../../src/event-sourcing/decider.js';
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
import {
  counterAggregate,
  type CounterCommand,
  type CounterEvent,
  type CounterState,
} from '../support/counter-aggregate.js';
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

/** When the store recorded each event of a counter; a command says how many it takes for known. */
const times: Aggregate<readonly Date[], number, CounterEvent> = {
  category: counterAggregate.category,
  codec: counterAggregate.codec,
  followsStoreTime: true,
  decider: {
    initialState: [],
    decide: (known, recorded) =>
      recorded.length === known ? [{ type: 'CounterOpened', data: { label: `${known}` } }] : [],
    evolve: (recorded, event) => [...recorded, event.recordedAt],
  },
};

test('decisions see when the store recorded an event, not when it was decided', async (t) => {
  const { handler, clock } = given();
  await clock.advance(60_000);
  const expected: Date[] = [];
  for (const n of [0, 1, 2]) {
    await clock.advance(1_000);
    await handler.handle({ aggregate: times, id: 'c1' }, n, contextOf(n), { guess: 'remembered' });
    expected.push(clock.now());
  }
  t.deepEqual((await handler.load(times, 'c1')).state, expected);
});

test('what was appended is decided on without being read, save where the store’s time counts', async (t) => {
  const { handler, reads, appends } = given();
  const guess = { guess: 'remembered' } as const;
  for (const n of [0, 1, 2]) await handler.handle({ aggregate: times, id: 'c1' }, n, contextOf(n), guess);
  const [c2, c3] = [
    { ...target, id: 'c2' },
    { ...target, id: 'c3' },
  ];
  await handler.handle(c2, open, contextOf(0), guess);
  for (const n of [1, 2]) await handler.handle(c2, add(n), contextOf(n), guess);
  // What may stand there with other content under the same id is read back.
  await handler.handle(c3, open, contextOf(0));
  for (const n of [1, 2]) await handler.handle(c3, add(n), contextOf(n), guess);
  t.deepEqual(
    reads.map(({ stream, from }) => `${stream} from ${from}`),
    ['c1 from 0', 'c1 from 0', 'c1 from 1', 'c2 from 0', 'c3 from 0', 'c3 from 0'].map(
      (read) => `counter-${read}`,
    ),
  );
  t.is(appends.length, 9, 'and none of them in vain');
});

test('a stream that is taken for new is not read; one that is not new after all is', async (t) => {
  const { handler, makeHandler, reads, appends } = given();
  const context = contextOf(0);
  const handled = await handler.handle(target, open, context, { guess: 'new' });
  t.deepEqual([handled.revision, reads.length, appends.length], [0n, 0, 1]);
  // Refused, repeated and carried out: by what stands there, and not by the guess.
  const other = makeHandler();
  const added = await other.handle(target, add(1), contextOf(1), { guess: 'new' });
  t.is(added.revision, 1n);
  const again = await makeHandler().handle(target, open, contextOf(2), { guess: 'new' });
  t.deepEqual([again.events, again.revision], [[], 1n]);
  await t.throwsAsync(makeHandler().handle({ ...target, id: 'c2' }, add(1), contextOf(3), { guess: 'new' }), {
    instanceOf: CommandRejected,
  });
});

test('nothing is left undone or refused for what is remembered of a stream that has gone on', async (t) => {
  const { handler, makeHandler, log } = given();
  const other = makeHandler();
  const guessing = (command: CounterCommand, n: number) =>
    handler.handle(target, command, contextOf(n), { guess: 'remembered' });
  await guessing(open, 0);
  // What the other process did, this one does not do again.
  await sendToCounter(other, 'c1', add(1, 5), 1);
  t.deepEqual((await guessing(add(1, 5), 2)).events, []);
  // What nobody needs to do, as far as it remembers, is looked at again.
  await sendToCounter(other, 'c1', { type: 'Close' }, 3);
  await t.throwsAsync(guessing(add(2), 4), { instanceOf: CommandRejected });
  t.is((await log.read('counter-c1')).length, 3);
  const reopened = { id: contextOf(9).commandId, type: 'CounterOpened', data: { label: 'b' } };
  const [first] = await log.read('counter-c1');
  if (first === undefined) throw new Error('the counter was opened');
  await log.append('counter-c1', 2n, [{ ...reopened, metadata: first.metadata }]);
  t.is((await guessing(add(2), 4)).revision, 4n);
});

test('a repetition with other content elsewhere is answered by what stands there', async (t) => {
  const { handler, makeHandler } = given();
  await sendToCounter(handler, 'c1', open, 0);
  await handler.load(counterAggregate, 'c1');
  // The same command, sealed anew as it were: the store knows it by its ids.
  const other = makeHandler();
  await sendToCounter(other, 'c1', add(1, 5), 1);
  t.deepEqual((await sendToCounter(handler, 'c1', add(1, 7), 1)).events, []);
  t.is((await handler.load(counterAggregate, 'c1')).state.total, 5);
});

test('what is remembered is loaded where the caller says that it will do', async (t) => {
  const { handler, makeHandler, reads } = given();
  await handler.handle(target, open, contextOf(0), { guess: 'new' });
  await sendToCounter(makeHandler(), 'c1', add(1, 5), 1);
  reads.length = 0;
  const isOpen = { suffices: ({ state }: Loaded<CounterState>) => state.status === 'open' };
  t.is((await handler.load(counterAggregate, 'c1', isOpen)).state.total, 0);
  t.is(reads.length, 0);
  const hasFive = { suffices: ({ state }: Loaded<CounterState>) => state.total === 5 };
  t.is((await handler.load(counterAggregate, 'c1', hasFive)).state.total, 5);
  t.is((await handler.load(counterAggregate, 'c2', isOpen)).revision, null);
  t.is(reads.length, 2);
});

test('If-Match is held against the stream, not against what is remembered of it', async (t) => {
  const { handler, makeHandler } = given();
  await handler.handle(target, open, contextOf(0), { guess: 'new' });
  await sendToCounter(makeHandler(), 'c1', add(1), 1);
  const guess = 'remembered';
  const error = { instanceOf: PreconditionFailed };
  await t.throwsAsync(handler.handle(target, add(2), contextOf(2), { expectedRevision: 0n, guess }), error);
  await sendToCounter(makeHandler(), 'c1', add(3), 3);
  const handled = await handler.handle(target, add(4), contextOf(4), { expectedRevision: 2n, guess });
  t.is(handled.revision, 3n);
  await t.throwsAsync(handler.handle(target, add(5), contextOf(5), { expectedRevision: 2n, guess }), error);
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
  const { handler, log } = given();
  await sendToCounter(handler, 'c1', open, 0);
  const [example] = await log.read('counter-c1');
  if (example === undefined) throw new Error('the counter was opened');
  const unknown = { ...example, id: '00000000-0000-5000-8000-000000000001', type: 'CounterPainted' };
  await log.append('counter-c1', 0n, [unknown]);
  await t.throwsAsync(sendToCounter(handler, 'c1', add(1), 1), {
    instanceOf: UndecodableEvent,
    message: /CounterPainted .*counter-c1 at revision 1/,
  });
  await t.throwsAsync(handler.load(counterAggregate, 'c1'), { instanceOf: UndecodableEvent });
  await sendToCounter(handler, 'c2', open, 2);
  t.deepEqual(
    await Promise.all(['counter-c1', 'counter-c2'].map(async (stream) => (await log.read(stream)).length)),
    [2, 1],
  );
});
