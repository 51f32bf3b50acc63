import { z } from 'zod';
import { instant } from '../../../../validation/fields.js';
import { type NodeEvent, type NodeHealth, type NodeMode, nodeHealth, nodeMode } from './events.js';

/** Successive results of one kind that change the status. */
const [unhealthyAfter, healthyAfter] = [3, 2];

/** Returns the status after a result: the rule of src/areas/nodes/README.md#node-checks. One of the two counters is 0. */
function healthAfter(
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

/** The shown status: the health that checks find, or the mode that an operator sets (src/areas/nodes/README.md#peer-nodes). */
export const nodeStatus = z
  .enum([...nodeHealth.options, ...nodeMode.exclude(['in_service']).options])
  .meta({ id: 'NodeStatus' });
type NodeStatus = z.infer<typeof nodeStatus>;

/** Whether a node works, and whether it is in service. Both are folds of its stream. */
export type NodeCondition = { readonly health: NodeHealth; readonly mode: NodeMode };

export const newCondition: NodeCondition = { health: 'unknown', mode: 'in_service' };

export function conditionAfter(before: NodeCondition, event: NodeEvent): NodeCondition {
  switch (event.type) {
    case 'NodeStatusChanged':
      return { ...before, health: event.data.status };
    case 'NodeModeChanged':
      return { ...before, mode: event.data.mode };
    case 'NodeRegistered':
      return newCondition;
    case 'NodeChanged':
    case 'NodeRemoved':
      return before;
  }
}

export function statusShown({ health, mode }: NodeCondition): NodeStatus {
  return mode === 'in_service' ? health : mode;
}

/**
 * Storage format of the state record `node-check/<node id>` (src/areas/nodes/README.md#node-checks). `status` is the fold of
 * the rule over all results in order of `sequence`; the stream follows (docs/decisions/nodes.md#0068-records-hold-the-status).
 */
export const nodeCheck = z.strictObject({
  failures: z.int().nonnegative(),
  successes: z.int().nonnegative(),
  last_checked_at: instant,
  sequence: z.int().positive(),
  status: nodeHealth,
});
export type NodeCheck = z.infer<typeof nodeCheck>;

export const nodeCheckPrefix = 'node-check/';

export function nodeCheckKey(nodeId: string): string {
  return `${nodeCheckPrefix}${nodeId}`;
}
