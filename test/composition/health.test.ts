import test, { type ExecutionContext } from 'ava';
import { makeHealth } from '../../src/composition/health.js';
import type { ProjectionRunner, ProjectionStatus } from '../../src/event-sourcing/projection-runner.js';
import { makeVirtualClock } from '../event-sourcing/support/virtual-clock.js';
import { countersProjection } from '../support/counter-views.js';

/** One view, two stores, and what the log was told; all of them as the test says. */
async function given(t: ExecutionContext) {
  const clock = makeVirtualClock();
  const away = new Set<string>();
  const told: (readonly string[])[] = [];
  let view: Partial<ProjectionStatus> = {};
  let reached = false;
  const health = makeHealth({
    probes: ['event store', 'state'].map((name) => ({
      name,
      ping: () => (away.has(name) ? Promise.reject(new Error('canary')) : Promise.resolve()),
    })),
    clock,
    onChange: (reasons) => told.push(reasons),
  });
  const status = (): ProjectionStatus => ({
    ...{ projection: countersProjection, collection: 'counters@1.1', state: 'live', position: null },
    ...{ atHead: true, lastEventAt: null, reason: null, ...view },
  });
  const runner: ProjectionRunner = {
    statuses: () => [status()],
    live: () => ({ reached, statuses: [status()] }),
    stop: () => Promise.resolve(),
  };
  const ended = new AbortController();
  const watching = health.watch(ended.signal);
  t.teardown(async () => {
    ended.abort();
    await watching;
  });
  await clock.advance(0);
  const look = async (change: () => void): Promise<readonly string[]> => {
    change();
    await clock.advance(2_000);
    return health.ready().reasons;
  };
  const become = (next: Partial<ProjectionStatus>): void => {
    view = next;
  };
  return {
    ...{ health, clock, away, told, look, become },
    startViews: (isReached: boolean) => {
      reached = isReached;
      health.projectionsStarted(runner);
    },
  };
}

const starting = 'starting: the views have not caught up yet';

test('nothing is served until the views have come to the head that was seen at start, and from then on', async (t) => {
  const { health, startViews, look } = await given(t);
  t.false(health.serving());
  t.deepEqual(health.ready(), { ok: false, reasons: [starting] });
  t.deepEqual(
    await look(() => {
      startViews(false);
    }),
    [starting],
  );
  t.false(health.serving());
  t.deepEqual(
    await look(() => {
      startViews(true);
    }),
    [],
  );
  t.deepEqual([health.serving(), health.ready().ok], [true, true]);
  startViews(false);
  t.true(health.serving(), 'a rebuild or a burst of events later on turns nobody away');
});

test('a store that does not answer is named while it is away', async (t) => {
  const { health, startViews, away, look, told } = await given(t);
  startViews(true);
  t.deepEqual(await look(() => away.add('event store').add('state')), [
    'the event store does not answer',
    'the state does not answer',
  ]);
  t.true(health.serving(), 'what needs no store that is away goes on');
  t.deepEqual(await look(() => away.delete('state')), ['the event store does not answer']);
  t.deepEqual(
    await look(() => {
      away.clear();
    }),
    [],
  );
  t.deepEqual(
    told.map((reasons) => reasons.length),
    [2, 1, 0],
  );
});

test('a view is named when it has stopped, and when it is more than 30 s behind events that wait', async (t) => {
  const { health, startViews, become, look, clock, told } = await given(t);
  startViews(true);
  const lastEventAt = clock.now();
  t.deepEqual(
    await look(() => {
      become({ atHead: false, lastEventAt });
    }),
    [],
  );
  await clock.advance(28_000);
  t.deepEqual(health.ready().reasons, []);
  await clock.advance(2_000);
  t.deepEqual(health.ready().reasons, ['the view counters@1.1 is 32 s behind']);
  await clock.advance(10_000);
  t.deepEqual(health.ready().reasons, ['the view counters@1.1 is 42 s behind']);
  t.deepEqual(
    told.map((reasons) => reasons.join()),
    ['', 'the view counters@1.1 is 32 s behind'],
    'a growing age is no news',
  );
  t.deepEqual(
    await look(() => {
      become({ atHead: true, lastEventAt });
    }),
    [],
    'a quiet log is no lag',
  );
  t.deepEqual(
    await look(() => {
      become({ state: 'stopped', reason: 'an event is unknown' });
    }),
    ['the view counters@1.1 has stopped: an event is unknown'],
  );
});

test('a process that is ending is not ready and still serves', async (t) => {
  const { health, startViews } = await given(t);
  startViews(true);
  t.true(health.serving());
  health.stopping();
  t.deepEqual(health.ready(), { ok: false, reasons: ['shutting down'] });
  t.true(health.serving());
});
