import { z } from 'zod';
import { instant } from '../../../../validation/fields.js';
import { type NodeEvent, type NodeHealth, nodeHealth, type NodeMode, nodeMode } from './events.js';

/** The shown status: the health that checks find, or the mode that an operator sets (src/areas/nodes/README.md#peer-nodes). */
export const nodeStatus = z
  .enum([...nodeHealth.options, ...nodeMode.exclude(['in_service']).options])
  .meta({ id: 'NodeStatus' });
export type NodeStatus = z.infer<typeof nodeStatus>;

/** Whether a node works, and whether it is in service. Both are folds of its stream. */
export interface NodeCondition {
  readonly health: NodeHealth;
  readonly mode: NodeMode;
}

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
