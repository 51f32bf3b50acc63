import test from 'ava';
import { type CommandHandler, eventId } from '../../../src/event-sourcing/deciding/command-handler.js';
import {
  CommandRejected,
  OutcomeUnknown,
  PreconditionFailed,
  StoreDamaged,
  StoreUnavailable,
  TargetNotFound,
  UndecodableEvent,
} from '../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../src/kit/semaphore.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { counterAggregate, type CounterCommand, contextOf } from '../../support/kernel/counters.js';
import { withDecide } from '../../support/given/with-decide.js';
import { givenWorld, handlerWithoutViews, sendToCounter } from '../../support/kernel/world.js';
import {
  failNth,
  type FaultPlan,
  noFaults,
  faultyEventStore,
  type Recording,
  recording,
} from '../../support/kernel/faulty-stores.js';
import type { VirtualClock } from '../../support/kernel/virtual-clock.js';

const open: CounterCommand = { type: 'Open', label: 'a' };
const add = (n: number, ...amounts: readonly number[]): CounterCommand => ({
  type: 'Add',
  operation: `o${n}`,
  amounts: amounts.length === 0 ? [1] : amounts,
});

interface Scene extends Recording {
  readonly clock: VirtualClock;
  readonly handler: CommandHandler;
  /** The log itself, as another process reads it. */
  readonly log: EventStore;
  readonly makeHandler: (options?: {
    readonly cachedStreamsMax?: number;
    readonly wrap?: (store: EventStore) => EventStore;
  }) => CommandHandler;
}

/** Given handlers without views over one log. The scene records the calls of the store. */
function given({ plan = noFaults }: { plan?: FaultPlan } = {}): Scene {
  const { clock, random, eventStore: log } = givenWorld();
  const seen = recording(faultyEventStore(log, { clock, random, plan }), () => clock.now().getTime());
  const makeHandler: Scene['makeHandler'] = ({
    cachedStreamsMax = 100,
    wrap = (store: EventStore) => store,
  } = {}) => handlerWithoutViews({ eventStore: wrap(seen.store), clock, random, cachedStreamsMax });
  return { ...seen, clock, log, makeHandler, handler: makeHandler() };
}

const target = { aggregate: counterAggregate, id: 'c1' };

/** Given an attempt that has decided when another process, with the same command, has written. */
function afterAnother({ handler, makeHandler }: Pick<Scene, 'handler' | 'makeHandler'>): CommandHandler {
  return makeHandler({
    wrap: (store) => ({
      ...store,
      append: async (...args) => {
        await sendToCounter(handler, 'c1', add(1, 5), 1);
        return store.append(...args);
      },
    }),
  });
}

test('A command appends its events, with ids made from its id, and with actor, cause and time', async (t) => {
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
    stored.map((event, index) => eventId(commandId, 'counter-c1', index, event)),
  );
  t.deepEqual(stored[0]?.metadata, {
    command_id: commandId,
    causation_id: causationId,
    correlation_id: correlationId,
    actor,
    time: time.toISOString(),
  });
});

test('A repeated command decides nothing, appends nothing and returns the revision of the stream', async (t) => {
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

test('A stream that does not exist loads as the initial state without a revision', async (t) => {
  const { handler } = given();
  t.deepEqual(await handler.load(counterAggregate, 'c1'), {
    state: counterAggregate.decider.initialState,
    revision: null,
  });
  const nothing = await sendToCounter(handler, 'c1', { type: 'Close' }, 1);
  t.deepEqual([nothing.events, nothing.revision], [[], null]);
});

test('A rejected command appends nothing and delays no other command', async (t) => {
  const { handler, log } = given();
  const refused = sendToCounter(handler, 'c1', add(1), 1);
  const opened = sendToCounter(handler, 'c1', open, 2);
  const error = await t.throwsAsync(refused, { instanceOf: CommandRejected });
  t.is(error.code, 'counter_not_open');
  await opened;
  t.is((await log.read('counter-c1')).length, 1);
});

test('Commands on one stream queue in a process, so they do not race with each other', async (t) => {
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

test('Commands on different streams do not wait for each other', async (t) => {
  const plan: FaultPlan = () => ({ fault: null, delayMs: 10, lateMs: 0 });
  const { handler, clock } = given({ plan });
  const startMs = clock.now().getTime();
  const ids = Array.from({ length: 50 }, (_, n) => `c${n}`);
  await clock.run(Promise.all(ids.map((id, n) => sendToCounter(handler, id, open, n))));
  t.is(clock.now().getTime() - startMs, 20, 'one read and one append');
});

test('More than a thousand commands that wait for one stream are Overloaded', async (t) => {
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

test('A command that loses a race loads and decides again', async (t) => {
  const { makeHandler, log, clock } = given({ plan: () => ({ fault: null, delayMs: 5, lateMs: 0 }) });
  const processes = Array.from({ length: 5 }, () => makeHandler());
  const [first] = processes;
  if (first === undefined) throw new Error('there is no process');
  await clock.run(sendToCounter(first, 'c1', open, 0));
  const all = processes.map((process, n) => sendToCounter(process, 'c1', add(n, 1, 1), n + 1));
  await clock.run(Promise.all(all));
  const { state } = await clock.run(first.load(counterAggregate, 'c1'));
  t.is(state.total, 10);
  t.is((await log.read('counter-c1')).length, 11);
});

/** Returns a store in which another writer is always a little faster. */
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

test('A command that loses 20 races, apart by jitter, is Overloaded', async (t) => {
  const { makeHandler, handler, clock, log, appends } = given();
  await sendToCounter(handler, 'c1', open, 0);
  appends.length = 0;
  const unlucky = makeHandler({ wrap: (store) => overtaken(store, log) });
  await t.throwsAsync(clock.run(sendToCounter(unlucky, 'c1', add(1), 1)), { instanceOf: Overloaded });
  t.is(appends.length, 20);
  const waits = appends.slice(1).map(({ atMs }, index) => atMs - (appends[index]?.atMs ?? NaN));
  waits.forEach((wait, attempt) => t.true(wait <= Math.min(200, 2 * 2 ** attempt)));
  t.true(new Set(waits).size > 10);
});

test('A cached stream is brought up to date by reading only its later events', async (t) => {
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
    [2n, 5n],
  );
});

test('A stream of thousands of events is read completely', async (t) => {
  const { handler, makeHandler } = given();
  await sendToCounter(handler, 'c1', open, 0);
  const amounts = Array.from({ length: 1_300 }, () => 1);
  await sendToCounter(handler, 'c1', add(1, ...amounts), 1);
  const { state, revision } = await makeHandler().load(counterAggregate, 'c1');
  t.deepEqual([state.total, revision], [1_300, 1_300n]);
});

test('The handler caches at most the configured number of streams', async (t) => {
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

test('A command with load: remembered decides on the cached fold, and reads a stream that is not cached', async (t) => {
  const { handler, reads, appends } = given();
  const remembered = { load: 'remembered' } as const;
  await handler.handle(target, open, contextOf(0), remembered);
  await handler.load(counterAggregate, 'c1');
  t.is((await handler.handle(target, add(1), contextOf(1), remembered)).revision, 1n);
  t.deepEqual(
    reads.map(({ from }) => from),
    [0n, 1n],
    'once for the first command, once for the load, which has the appended event in the cache',
  );
  t.is(appends.length, 2);
});

test('A load of cached state returns what this process has appended on cached state, without a read', async (t) => {
  const { handler, makeHandler, reads } = given();
  // Given a counter that this process has opened without a read, and that another process has changed since
  await handler.handle(target, open, contextOf(0), { load: 'new' });
  await sendToCounter(makeHandler(), 'c1', add(1, 5), 1);
  reads.length = 0;
  t.like(await handler.load(counterAggregate, 'c1', 'remembered'), { revision: 0n, state: { total: 0 } });
  t.is(reads.length, 0);
  // When a command meets the change of the other process
  await handler.handle(target, add(2), contextOf(2), { load: 'remembered' });
  reads.length = 0;
  t.like(await handler.load(counterAggregate, 'c1', 'remembered'), { revision: 2n });
  t.is(reads.length, 0);
  // Then a load of the latest state agrees, and reads only what follows
  t.deepEqual(
    await handler.load(counterAggregate, 'c1'),
    await handler.load(counterAggregate, 'c1', 'remembered'),
  );
  t.deepEqual(
    reads.map(({ from }) => from),
    [3n],
  );
});

test('A command that read its stream caches what it appended', async (t) => {
  const { handler, reads } = given();
  await sendToCounter(handler, 'c1', open, 0);
  reads.length = 0;
  t.like(await handler.load(counterAggregate, 'c1', 'remembered'), { revision: 0n });
  t.is(reads.length, 0);
});

test('A process caches what the log has, where two attempts of a command make the same events', async (t) => {
  const { handler, makeHandler, log } = given();
  await sendToCounter(handler, 'c1', open, 0);
  const late = afterAnother({ handler, makeHandler });
  // When the store takes its append for a repetition
  t.is((await sendToCounter(late, 'c1', add(1, 5), 1)).revision, 1n);
  // Then both have cached what a third process reads
  t.is((await log.read('counter-c1')).length, 2);
  const read = await makeHandler().load(counterAggregate, 'c1');
  for (const one of [handler, late]) t.deepEqual(await one.load(counterAggregate, 'c1', 'remembered'), read);
});

test('A command with load: new decides on the initial state where nothing is cached', async (t) => {
  const { handler, makeHandler, reads, appends } = given();
  const handled = await handler.handle(target, open, contextOf(0), { load: 'new' });
  t.deepEqual([handled.revision, reads.length, appends.length], [0n, 0, 1]);
  // The stream exists after all: the append is refused, and the command decides again.
  const again = await makeHandler().handle(target, open, contextOf(1), { load: 'new' });
  t.deepEqual([again.events, again.revision, appends.length], [[], 0n, 2]);
});

test('A rejection on cached state is decided again on a fresh read', async (t) => {
  const { handler, makeHandler, log } = given();
  const other = makeHandler();
  // Given a counter that this process has seen closed, and that was opened again since
  await sendToCounter(handler, 'c1', open, 0);
  await sendToCounter(handler, 'c1', { type: 'Close' }, 1);
  await handler.load(counterAggregate, 'c1');
  const [first] = await log.read('counter-c1');
  if (first === undefined) throw new Error('the counter has no event');
  await log.append('counter-c1', 1n, [{ ...first, id: contextOf(9).commandId }]);
  // When a command is decided on the cached state, which rejects it
  const handled = await handler.handle(target, add(2), contextOf(2), { load: 'remembered' });
  t.is(handled.revision, 3n);
  // The initial state rejects it too.
  t.is((await other.handle(target, add(3), contextOf(3), { load: 'new' })).revision, 4n);
  // A rejection on a fresh read stands.
  await t.throwsAsync(handler.handle({ ...target, id: 'c2' }, add(4), contextOf(4), { load: 'new' }), {
    instanceOf: CommandRejected,
  });
});

test('An empty decision on cached state is decided again on a fresh read', async (t) => {
  const { handler } = given();
  await sendToCounter(handler, 'c1', open, 0);
  // On the initial state there is nothing to close.
  const closed = await handler.handle(target, { type: 'Close' }, contextOf(1), { load: 'new' });
  t.deepEqual([closed.events.length, closed.revision], [1, 1n]);
});

test('A command whose cached state is stale appends nothing at the stale revision, and decides again', async (t) => {
  const { handler, makeHandler, log, appends } = given();
  await sendToCounter(handler, 'c1', open, 0);
  await handler.load(counterAggregate, 'c1');
  await sendToCounter(makeHandler(), 'c1', add(1, 5), 1);
  appends.length = 0;
  const remembered = { load: 'remembered' } as const;
  t.is((await handler.handle(target, add(2), contextOf(2), remembered)).revision, 2n);
  t.is(appends.length, 2, 'the first of them was refused');
  // The fresh read shows that another process has carried the operation out.
  await sendToCounter(makeHandler(), 'c1', add(3, 5), 3);
  t.deepEqual((await handler.handle(target, add(3, 5), contextOf(4), remembered)).events, []);
  t.is((await log.read('counter-c1')).length, 4);
});

test('A repetition with other content in another process is answered from the stored events', async (t) => {
  const { handler, makeHandler } = given();
  await sendToCounter(handler, 'c1', open, 0);
  await handler.load(counterAggregate, 'c1');
  // The command is the same with other content, as after another sealing. The store knows it by its ids.
  const other = makeHandler();
  await sendToCounter(other, 'c1', add(1, 5), 1);
  t.deepEqual((await sendToCounter(handler, 'c1', add(1, 7), 1)).events, []);
  t.is((await handler.load(counterAggregate, 'c1')).state.total, 5);
});

test('Two attempts of a command at once with other content: one is written, and the other is answered from it', async (t) => {
  const { handler, makeHandler, clock } = given();
  await sendToCounter(handler, 'c1', open, 0);
  const late = afterAnother({ handler, makeHandler });
  // When it appends, then the store does not take its content for the written one
  const handled = await clock.run(sendToCounter(late, 'c1', add(1, 7), 1));
  t.deepEqual(handled.events, []);
  t.is((await handler.load(counterAggregate, 'c1')).state.total, 5);
});

test('A log that is away for 0.3 s fails no command, whether it reads or appends', async (t) => {
  for (const call of ['read', 'append'] as const) {
    const { makeHandler, clock } = given();
    let awayUntilMs = 0;
    const handler = makeHandler({
      wrap: (store) => ({
        ...store,
        [call]: (...args: never) => {
          const nowMs = clock.now().getTime();
          if (awayUntilMs === 0) awayUntilMs = nowMs + 300;
          if (nowMs < awayUntilMs) return Promise.reject(new StoreUnavailable('away'));
          return (store[call] as (...given: never) => unknown)(...args);
        },
      }),
    });
    t.is((await clock.run(sendToCounter(handler, 'c1', open, 0))).revision, 0n, call);
  }
});

test('A load of a log that stays away fails after 1.1 to 1.9 s, and damage fails it at once', async (t) => {
  const { makeHandler, clock } = given();
  const failing = (error: Error) =>
    makeHandler({ wrap: (store) => ({ ...store, read: () => Promise.reject(error) }) });
  const startMs = clock.now().getTime();
  const away = failing(new StoreUnavailable('away'));
  await t.throwsAsync(clock.run(away.load(counterAggregate, 'c1')), { instanceOf: StoreUnavailable });
  const tookMs = clock.now().getTime() - startMs;
  t.true(tookMs >= 1_100 && tookMs <= 1_900, `${tookMs} ms`);
  const damaged = failing(new StoreDamaged('cut off'));
  await t.throwsAsync(damaged.load(counterAggregate, 'c1'), { instanceOf: StoreDamaged });
  t.is(clock.now().getTime(), startMs + tookMs);
});

test('If-Match is compared with the stream, not with the cached revision', async (t) => {
  const { handler, makeHandler } = given();
  await sendToCounter(handler, 'c1', open, 0);
  await handler.load(counterAggregate, 'c1');
  await sendToCounter(makeHandler(), 'c1', add(1), 1);
  const load = 'remembered';
  const error = { instanceOf: PreconditionFailed };
  await t.throwsAsync(handler.handle(target, add(2), contextOf(2), { expectedRevision: 0n, load }), error);
  await sendToCounter(makeHandler(), 'c1', add(3), 3);
  const handled = await handler.handle(target, add(4), contextOf(4), { expectedRevision: 2n, load });
  t.is(handled.revision, 3n);
  await t.throwsAsync(handler.handle(target, add(5), contextOf(5), { expectedRevision: 2n, load }), error);
});

test('A target that does not exist for the caller comes before If-Match, every other rejection after it', async (t) => {
  const { handler, log } = given();
  await sendToCounter(handler, 'c1', open, 0);
  const decide = (error: Error): never => {
    throw error;
  };
  const refusing = { aggregate: withDecide(counterAggregate, decide), id: 'c1' };
  const outcomes = [
    [new TargetNotFound('counter_not_found', 'the counter does not exist'), TargetNotFound],
    [new CommandRejected('counter_not_open', 'the counter is not open'), PreconditionFailed],
    [new RangeError('a mistake in decide'), RangeError],
  ] as const;
  for (const load of ['latest', 'remembered'] as const) {
    for (const [thrown, instanceOf] of outcomes) {
      const options = { expectedRevision: 7n, load };
      await t.throwsAsync(handler.handle(refusing, thrown, contextOf(1), options), { instanceOf });
    }
  }
  t.is((await log.read('counter-c1')).length, 1);
});

test('A command with If-Match runs only at the named revision', async (t) => {
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

test('A command with If-Match that loses a race is refused', async (t) => {
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
  test(`An append without an answer is found or written by the same command: ${fault}`, async (t) => {
    const { handler, clock, log } = given({ plan: failNth(2, fault, (operation) => operation === 'append') });
    await sendToCounter(handler, 'c1', open, 0);
    const handled = await clock.run(sendToCounter(handler, 'c1', add(1, 1, 1), 1));
    t.is(handled.revision, 2n);
    t.is(handled.events.length, 2);
    await clock.advance(60_000);
    t.is((await log.read('counter-c1')).length, 3);
  });
}

test('An outcome that stays unknown is not reported as a success, and a repetition settles it', async (t) => {
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
  t.is((await log.read('counter-c1')).length, 3, 'the late appends find their events written');
});

test('An undecodable event fails the commands of its stream and of no other', async (t) => {
  const { handler, log } = given();
  await sendToCounter(handler, 'c1', open, 0);
  const [example] = await log.read('counter-c1');
  if (example === undefined) throw new Error('the counter has no event');
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
