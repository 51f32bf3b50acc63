import test, { type ExecutionContext } from 'ava';
import { makeHealth } from '../../src/observing/health.js';
import type { ProjectionRunner } from '../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { makeVirtualClock } from '../support/kernel/virtual-clock.js';
import { makeSoleLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { countersProjection, writeCounters } from '../support/kernel/counters.js';
import { givenProcess, givenWorld } from '../support/kernel/world.js';

type LiveStatus = ReturnType<ProjectionRunner['live']>['statuses'][number];

/** Makes the health of one view. `reports` collects the reasons that the log receives. */
async function given(t: ExecutionContext) {
  const clock = makeVirtualClock();
  const away = new Set<string>();
  const reports: (readonly string[])[] = [];
  let logFailingSince: number | null = null;
  let view: Partial<LiveStatus> = {};
  let reached = false;
  const stalled: string[] = [];
  const health = makeHealth({
    stores: { away: () => [...away] },
    log: 'EventStoreDB at a:1',
    logReads: { failingSinceMs: () => logFailingSince },
    clock,
    onChange: (reasons) => reports.push(reasons),
  });
  const status = (): LiveStatus => ({
    ...{ projection: countersProjection, collection: 'counters@1.1', state: 'live', position: null },
    ...{ atHead: true, lastEventAt: null, reason: null, failure: null, lagMs: 0, ...view },
  });
  const runner: ProjectionRunner = {
    statuses: () => [status()],
    live: () => ({ reached, statuses: [status()] }),
    shows: () => true,
    stalled: () => [],
    problems: () => stalled,
    lagsMs: () => new Map(),
    positions: () => [],
    stop: () => Promise.resolve(),
  };
  const ended = new AbortController();
  const watching = health.watch(ended.signal);
  t.teardown(async () => {
    ended.abort();
    await watching;
  });
  await clock.advance(0);
  const reasonsAfter = async (change: () => void): Promise<readonly string[]> => {
    change();
    await clock.advance(2_000);
    return health.ready().reasons;
  };
  const become = (next: Partial<LiveStatus>): void => {
    view = next;
  };
  return {
    ...{ health, clock, away, reports, reasonsAfter, become, stalled },
    failReadsOfLog: (since: number | null) => {
      logFailingSince = since;
    },
    startViews: (isReached: boolean) => {
      reached = isReached;
      health.projectionsStarted(runner);
    },
  };
}

const starting = 'starting: the views have not caught up yet';

test('Health serves nothing until the views reach the head that was read at the start, and serves from then on', async (t) => {
  const { health, startViews, reasonsAfter } = await given(t);
  t.false(health.serving());
  t.deepEqual(health.ready(), { ok: false, reasons: [starting] });
  t.deepEqual(await reasonsAfter(() => startViews(false)), [starting]);
  t.false(health.serving());
  t.deepEqual(await reasonsAfter(() => startViews(true)), []);
  t.deepEqual([health.serving(), health.ready().ok], [true, true]);
  startViews(false);
  t.true(health.serving(), 'a later rebuild or burst of events refuses no request');
});

test('Readiness names a store while it does not answer, which the watch of the stores reports to the log', async (t) => {
  const { health, startViews, away, reasonsAfter, reports } = await given(t);
  startViews(true);
  t.deepEqual(await reasonsAfter(() => away.add('EventStoreDB at a:1').add('the state')), [
    'EventStoreDB at a:1 does not answer: writes are refused',
    'the state does not answer',
  ]);
  t.false(health.ready().ok);
  t.true(health.serving(), 'requests that need no unavailable store are served');
  t.deepEqual(await reasonsAfter(() => away.delete('the state')), [
    'EventStoreDB at a:1 does not answer: writes are refused',
  ]);
  t.true(health.ready().ok, 'reads are served, and no other process has another log');
  t.deepEqual(await reasonsAfter(() => away.clear()), []);
  t.deepEqual(reports, [[]]);
});

test('Readiness fails when every read of the log has failed for 30 s, also while the stores answer', async (t) => {
  const { health, startViews, failReadsOfLog, reasonsAfter, clock, reports } = await given(t);
  startViews(true);
  t.deepEqual(await reasonsAfter(() => failReadsOfLog(clock.now().getTime())), []);
  await clock.advance(27_999);
  t.deepEqual(health.ready().reasons, []);
  await clock.advance(1);
  t.deepEqual(health.ready().reasons, ['the log could not be read for 30 s']);
  await clock.advance(10_000);
  t.is(reports.length, 2, 'a growing age is not reported again');
  t.deepEqual(await reasonsAfter(() => failReadsOfLog(null)), []);
});

test('A start ends when the views have caught up, or when the last one has stopped', async (t) => {
  // Given a view that catches up
  const { health, startViews, become, clock } = await given(t);
  const settled: string[] = [];
  const wait = async (name: string): Promise<void> => {
    await health.settled(new AbortController().signal);
    settled.push(name);
  };
  become({ state: 'catching-up' });
  void wait('one');
  await clock.advance(100);
  startViews(false);
  await clock.advance(100);
  t.deepEqual(settled, []);
  // When it stops, then the start ends, although the process is not ready
  become({ state: 'stopped', reason: 'an event is unknown' });
  await clock.advance(100);
  t.deepEqual(settled, ['one']);
  t.false(health.serving());
  // When it catches up, then the start ends too
  become({ state: 'catching-up' });
  void wait('two');
  await clock.advance(100);
  t.deepEqual(settled, ['one']);
  startViews(true);
  await clock.advance(100);
  t.deepEqual(settled, ['one', 'two']);
});

test('Readiness names what no process feeds, and its growing age is reported once', async (t) => {
  const { startViews, stalled, reasonsAfter, reports } = await given(t);
  startViews(true);
  t.deepEqual(
    await reasonsAfter(() => stalled.push('the view users@1 is stalled: no process feeds it for 15 s')),
    stalled,
  );
  await reasonsAfter(() => stalled.splice(0, 1, 'the view users@1 is stalled: no process feeds it for 17 s'));
  t.deepEqual(reports.at(-1), ['the view users@1 is stalled: no process feeds it for 15 s']);
  t.deepEqual(await reasonsAfter(() => stalled.pop()), []);
});

test('Readiness names a view that has stopped, and a view that is more than 30 s behind waiting events', async (t) => {
  const { startViews, become, reasonsAfter, reports } = await given(t);
  startViews(true);
  t.deepEqual(await reasonsAfter(() => become({ lagMs: 30_000 })), []);
  t.deepEqual(await reasonsAfter(() => become({ lagMs: 31_000 })), ['the view counters@1.1 is 31 s behind']);
  t.deepEqual(await reasonsAfter(() => become({ lagMs: 42_000 })), ['the view counters@1.1 is 42 s behind']);
  t.deepEqual(
    reports.map((reasons) => reasons.join()),
    ['', 'the view counters@1.1 is 31 s behind'],
    'a growing age is not reported again',
  );
  t.deepEqual(await reasonsAfter(() => become({ lagMs: 0 })), [], 'a quiet log is no lag');
  t.deepEqual(await reasonsAfter(() => become({ state: 'stopped', reason: 'an event is unknown' })), [
    'the view counters@1.1 has stopped: an event is unknown',
  ]);
});

test('A process that shuts down is not ready and still serves', async (t) => {
  const { health, startViews } = await given(t);
  startViews(true);
  t.true(health.serving());
  health.stopping();
  t.deepEqual(health.ready(), { ok: false, reasons: ['shutting down'] });
  t.true(health.serving());
});

test('Readiness names a view whose documents the store has refused for 30 s', async (t) => {
  const world = givenWorld();
  const { clock, eventStore, readModelStore } = world;
  let isRefusing = false;
  const refusing: ReadModelStore = {
    ...readModelStore,
    write: (collection, writes) =>
      isRefusing && collection === 'counters@1.1'
        ? Promise.reject(new StoreUnavailable('write error 13'))
        : readModelStore.write(collection, writes),
  };
  const lease = makeSoleLease('process 1');
  const process = await givenProcess({ ...world, readModelStore: refusing, lease });
  const progress = () => lease.progress().get('view/counters@1');
  const runner = await process.startProjections();
  const health = makeHealth({
    ...{ stores: { away: () => [] }, logReads: { failingSinceMs: () => null }, clock },
  });
  health.projectionsStarted(runner);
  await clock.advance(2_000);
  t.deepEqual(health.ready(), { ok: true, reasons: [] });
  // When the store refuses the writes of a view, and answers all else
  isRefusing = true;
  await writeCounters(eventStore, { counters: 2, additions: 1 });
  await clock.advance(25_000);
  t.deepEqual(health.ready(), { ok: true, reasons: [] });
  await clock.advance(10_000);
  const { ok, reasons } = health.ready();
  t.false(ok);
  t.regex(reasons.join(), /^the view counters@1\.1 is 3\d s behind$/);
  t.like(progress(), { state: 'failing', problem: 'write error 13' });
  isRefusing = false;
  await clock.advance(15_000);
  t.like(progress(), { state: 'running', problem: null });
  t.deepEqual(health.ready(), { ok: true, reasons: [] });
  await clock.run(runner.stop());
});
