import type { ExecutionContext } from 'ava';
import type { NodeHealth } from '../../../src/areas/nodes/domain/node/events.js';
import { type NodeCheck, afterResult, afterSilence } from '../../../src/areas/nodes/domain/node/fold.js';
import { makeSeededRandom } from '../fakes/clock.js';

export type Happening = 'success' | 'failure' | 'silence';

/** The rule as a table: the status after a success or a failure that is the nth of its kind in a row, up to the third. */
const table: Readonly<Record<NodeHealth, Readonly<Record<'success' | 'failure', readonly NodeHealth[]>>>> = {
  unknown: { success: ['unknown', 'healthy', 'healthy'], failure: ['unknown', 'unknown', 'unhealthy'] },
  healthy: { success: ['healthy', 'healthy', 'healthy'], failure: ['degraded', 'degraded', 'unhealthy'] },
  degraded: { success: ['degraded', 'healthy', 'healthy'], failure: ['degraded', 'degraded', 'unhealthy'] },
  unhealthy: {
    success: ['unhealthy', 'healthy', 'healthy'],
    failure: ['unhealthy', 'unhealthy', 'unhealthy'],
  },
};

/** Returns status and counters after some happenings, by the table. Nothing here is shared with the service. */
export function expectedAfter(happenings: readonly Happening[]) {
  let status: NodeHealth = 'unknown';
  let last: Happening = 'silence';
  let inRow = 0;
  for (const happening of happenings) {
    if (happening === 'silence') {
      status = 'unknown';
      continue;
    }
    inRow = happening === last ? inRow + 1 : 1;
    last = happening;
    status = table[status][happening][Math.min(inRow, 3) - 1] ?? 'unknown';
  }
  const counters = last === 'success' ? { failures: 0, successes: inRow } : { failures: inRow, successes: 0 };
  return { status, ...counters };
}

/** Folds random sequences with clocks that jump, and compares each with the table. */
export function compareWithTable(t: ExecutionContext, sequences: number, seed: number): void {
  const random = makeSeededRandom(seed);
  for (let n = 0; n < sequences; n += 1) {
    const { happenings, check, rises } = foldOne(random);
    const { status, failures, successes } = check;
    const expected = expectedAfter(happenings);
    const isRight =
      status === expected.status && failures === expected.failures && successes === expected.successes;
    if (isRight && rises) continue;
    const found = { status, failures, successes, rises };
    t.deepEqual(found, { ...expected, rises: true }, `seed ${seed}: ${happenings.join(' ')}`);
  }
  t.pass();
}

const known = { health: 'unknown', sequence: 0 } as const;

/** Folds a random sequence of at most 12 happenings. `rises`: each sequence was above the one before. */
function foldOne(random: () => number) {
  let nowMs = 1_800_000_000_000;
  const failing = random();
  const happen = (before: NodeCheck | null): { happening: Happening; check: NodeCheck } => {
    nowMs += Math.floor((random() - 0.4) * 7_200_000);
    const time = new Date(nowMs);
    if (before !== null && random() < 0.1) {
      return { happening: 'silence', check: afterSilence(before, known, time) };
    }
    const ok = random() >= failing;
    return { happening: ok ? 'success' : 'failure', check: afterResult(before, known, { ok, time }) };
  };
  const first = happen(null);
  const happenings = [first.happening];
  let { check } = first;
  let rises = true;
  for (let left = Math.floor(random() * 12); left > 0; left -= 1) {
    const next = happen(check);
    rises &&= next.check.sequence > check.sequence;
    happenings.push(next.happening);
    check = next.check;
  }
  return { happenings, check, rises };
}
