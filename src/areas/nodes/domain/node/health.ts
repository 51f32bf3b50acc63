import type { NodeHealth } from './events.js';
import type { NodeCheck } from './fold.js';

/** Successive results of one kind that change the status. */
const [unhealthyAfter, healthyAfter] = [3, 2];

/** Returns the status after a result: the rule of src/areas/nodes/README.md#node-checks. One of the two counters is 0. */
export function healthAfter(
  current: NodeHealth,
  { failures, successes }: Pick<NodeCheck, 'failures' | 'successes'>,
): NodeHealth {
  if (failures >= unhealthyAfter) return 'unhealthy';
  if (successes >= healthyAfter) return 'healthy';
  return failures > 0 && current === 'healthy' ? 'degraded' : current;
}

/** What the stream knows, for a node whose record is new or older than the stream. */
export interface KnownHealth {
  readonly health: NodeHealth;
  /** The sequence of the last change of the status; 0 before the first. */
  readonly sequence: number;
}

/** Returns the record after a result. A result sets the counter of the opposite result to 0. */
export function afterResult(
  before: NodeCheck | null,
  known: KnownHealth,
  { ok, time }: { readonly ok: boolean; readonly time: Date },
): NodeCheck {
  const counters = ok
    ? { failures: 0, successes: (before?.successes ?? 0) + 1 }
    : { failures: (before?.failures ?? 0) + 1, successes: 0 };
  return {
    ...counters,
    last_checked_at: time.toISOString(),
    sequence: nextSequence(before, known, time),
    status: healthAfter(before?.status ?? known.health, counters),
  };
}

/** Returns the record of a node that has been silent. Its counters stay. */
export function afterSilence(before: NodeCheck, known: KnownHealth, time: Date): NodeCheck {
  return { ...before, sequence: nextSequence(before, known, time), status: 'unknown' };
}

/** A clock that was set back does not lower it: it orders the results, and tells no time. */
function nextSequence(before: NodeCheck | null, { sequence }: KnownHealth, time: Date): number {
  return Math.max(Math.max(before?.sequence ?? 0, sequence) + 1, time.getTime());
}
