import { readFileSync } from 'node:fs';
import test from 'ava';
import type { LeaseRecord, Progress } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { consumersIn, reportStatus } from '../../src/observing/components.js';

const view = 'view/users@1';
const mail = 'reaction/mail';
const quiet: Progress = { state: null, lagMs: 0, problem: null };

/** A process that feeds the view beside one that has the task, or none of them. */
function given(progress: Partial<Progress> = {}, feeds: Readonly<Record<string, readonly string[]>> = {}) {
  const records = Object.entries({ self: [view], other: [mail, 'task/node-prober'], ...feeds }).map(
    ([owner, active]): LeaseRecord => ({
      owner,
      feeds: [...active],
      positions: {},
      lags_ms: { [mail]: 4_200 },
    }),
  );
  const own = new Map([
    [view, { ...quiet, state: 'running' as const, lagMs: 1_500, ...progress }],
    [mail, quiet],
  ]);
  return { id: 'self', progress: own, records };
}

test('The status names each component with its state, its lag, and the process that feeds it', (t) => {
  t.deepEqual(
    consumersIn(given(), []).map(({ kind, name, state, lag_seconds: lag, feeders: by }) => [
      kind,
      name,
      state,
      lag,
      by,
    ]),
    [
      ['view', 'users@1', 'running', 1.5, ['self']],
      ['reaction', 'mail', 'running', 4.2, ['other']],
      ['task', 'node-prober', 'running', 0, ['other']],
    ],
  );
});

test('The status tells a component that has stopped from one that another process feeds, and from one that none feeds', (t) => {
  const stopped = { state: 'stopped' as const, problem: 'the event X cannot be read' };
  const stalledFor = (consumer: string) => [{ consumer, forMs: 16_000 }];
  for (const stalled of [[], stalledFor(view)]) {
    const [component] = consumersIn(given(stopped, { self: [] }), stalled);
    t.like(component, { ...stopped, feeders: [] });
  }
  const [taken] = consumersIn(given(stopped, { self: [], other: [view] }), []);
  t.like(taken, { state: 'running', problem: 'the event X cannot be read', feeders: ['other'] });
  const silent = given({}, { other: [] });
  t.like(consumersIn(silent, [])[1], { name: 'mail', state: 'stalled', lag_seconds: null });
  t.like(consumersIn(silent, stalledFor(mail))[1], { state: 'stalled', lag_seconds: 16 });
});

test('The status names the stores before they are open, and for how long one has not answered', (t) => {
  const server = { product: 'KurrentDB', version: '26.0.3' };
  const status = reportStatus({
    stores: () => [
      { name: 'the log', awayMs: null, hasAnswered: true, failure: null, server },
      {
        name: 'MongoDB at a:1',
        awayMs: 61_000,
        hasAnswered: true,
        failure: 'no answer in time',
        server: null,
      },
      { name: 'the state', awayMs: null, hasAnswered: false, failure: null, server: null },
    ],
    readiness: { ready: () => ({ ok: false, reasons: ['MongoDB at a:1 does not answer'] }) },
    version: '1.2.3',
    feeding: () => null,
    stalled: () => [],
  });
  t.like(status, { ready: false, process: null, version: '1.2.3' });
  t.deepEqual(
    status.components.map(({ name, state, lag_seconds: lag, problem }) => [name, state, lag, problem]),
    [
      ['the log, KurrentDB 26.0.3', 'answers', 0, null],
      ['MongoDB at a:1', 'away', 61, 'no answer in time'],
      ['the state', 'unknown', 0, null],
    ],
  );
});

test('The guide of monitoring lists every state of a store, and so the one before its first call', (t) => {
  const rows = readFileSync('docs/monitoring.md', 'utf8').matchAll(/^\| `([a-z-]+)` \|/gm);
  const listed = new Set([...rows].map(([, name]) => name));
  const store = { name: 'the log', failure: null, server: null };
  const stores = [false, true].flatMap((hasAnswered) => [
    { ...store, hasAnswered, awayMs: null },
    { ...store, hasAnswered, awayMs: 1_000 },
  ]);
  const readiness = { ready: () => ({ ok: false, reasons: [] }) };
  const status = reportStatus({
    stores: () => stores,
    ...{ readiness, version: '1', feeding: () => null, stalled: () => [] },
  });
  for (const { state } of status.components) t.true(listed.has(state), state);
});
