import test from 'ava';
import { type NodeCheck, afterResult, afterSilence } from '../../../../src/areas/nodes/domain/node/fold.js';
import { nodeAggregate } from '../../../../src/areas/nodes/domain/node/node.js';
import {
  nodeModeChanged,
  nodeRegistered,
  nodeRemoved,
  nodeStatusChanged,
} from '../../../support/examples/node.js';
import { given } from '../../../support/given/given.js';
import { compareWithTable } from '../../../support/simulation/node-checks.js';

const time = new Date('2026-01-02T03:04:05.000Z');
const fresh = { health: 'unknown', sequence: 0 } as const;

/** Folds `+` and `-` for successes and failures, `.` for silence. */
function statusesOf(text: string): string {
  let check: NodeCheck | null = null;
  return Array.from(text)
    .map((sign) => {
      check =
        sign === '.' && check !== null
          ? afterSilence(check, fresh, time)
          : afterResult(check, fresh, { ok: sign === '+', time });
      return check.status;
    })
    .join(' ');
}

test('Three failures make a node unhealthy, two successes healthy, and a failure of a healthy one degraded', (t) => {
  t.is(statusesOf('+++'), 'unknown healthy healthy');
  t.is(statusesOf('----'), 'unknown unknown unhealthy unhealthy');
  t.is(statusesOf('++--+-+-'), 'unknown healthy degraded degraded degraded degraded degraded degraded');
  t.is(statusesOf('++-++'), 'unknown healthy degraded degraded healthy');
  t.is(statusesOf('---+-+'), 'unknown unknown unhealthy unhealthy unhealthy unhealthy');
});

test('A silent node becomes unknown and keeps its counters', (t) => {
  t.is(statusesOf('++.+'), 'unknown healthy unknown healthy');
  t.is(statusesOf('---.-'), 'unknown unknown unhealthy unknown unhealthy');
  const before = afterResult(null, fresh, { ok: false, time });
  t.deepEqual(afterSilence(before, fresh, time), { ...before, sequence: before.sequence + 1 });
});

test('A sequence rises also when the clock is set back, and after that of the stream', (t) => {
  const first = afterResult(null, fresh, { ok: true, time });
  t.is(first.sequence, time.getTime());
  const hourBefore = new Date(time.getTime() - 3_600_000);
  t.is(afterResult(first, fresh, { ok: true, time: hourBefore }).sequence, first.sequence + 1);
  const known = { health: 'healthy', sequence: first.sequence + 50 } as const;
  const restored = afterResult(null, known, { ok: false, time });
  t.like(restored, { sequence: first.sequence + 51, status: 'degraded' });
});

test('The rule agrees with its table on random sequences', (t) => compareWithTable(t, 4_000, 1));

const check: NodeCheck = {
  ...{ failures: 0, successes: 2, status: 'healthy' },
  last_checked_at: nodeStatusChanged.data.last_checked_at,
  sequence: nodeStatusChanged.data.sequence,
};
const follow = (changes: Partial<NodeCheck> = {}) =>
  ({ type: 'FollowCheck', check: { ...check, ...changes } }) as const;

const registered = given(nodeAggregate, nodeRegistered);
const followed = given(nodeAggregate, nodeRegistered, nodeStatusChanged);

test('A node follows a status that differs, with the counters that led to it', (t) => {
  registered.when(follow()).then(t, nodeStatusChanged);
  registered.when(follow({ status: 'unknown' })).thenNothing(t);
  followed.when(follow({ sequence: 8 })).thenNothing(t);
  const unknown = { status: 'unknown', sequence: 8 } as const;
  const data = { ...nodeStatusChanged.data, ...unknown, because: 'silence' as const };
  followed.when(follow(unknown)).then(t, { type: 'NodeStatusChanged', data });
});

test('A node ignores a sequence that is not above the last one', (t) => {
  for (const sequence of [6, 7]) {
    const stale = follow({ status: 'degraded', sequence });
    followed.when(stale).thenNothing(t);
  }
});

test('Only a registered node has a status and a mode', (t) => {
  const drain = { type: 'Change', changes: {}, mode: 'draining' } as const;
  given(nodeAggregate, nodeRegistered).when(drain).then(t, nodeModeChanged);
  given(nodeAggregate, nodeRegistered, nodeModeChanged).when(follow()).then(t, nodeStatusChanged);
  for (const command of [follow(), drain]) {
    given(nodeAggregate).when(command).thenRejected(t, 'node_not_found');
    given(nodeAggregate, nodeRegistered, nodeRemoved).when(command).thenRejected(t, 'node_not_found');
  }
});
