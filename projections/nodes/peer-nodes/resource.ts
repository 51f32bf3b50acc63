import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { nodeHealth, nodeMode, nodeType } from '../../../src/areas/nodes/domain/node/events.js';
import { nodeStatus } from '../../../src/areas/nodes/domain/node/fold.js';

/** A peer node (docs/api.md#23-peer-node-item-element-of-items-in-the-peer-list). */
export const nodeResource = namedObject('PeerNode', {
  id: entityId,
  name: z.string(),
  node_type: nodeType,
  ip_address: z.string().meta({ description: 'IPv4 or IPv6.', examples: ['192.0.2.10'] }),
  ip_version: z.literal([4, 6]).meta({ type: 'integer' }),
  dnsprovider_record_id: z.string(),
  lb_weight: z.int().min(0).max(100),
  lb_enabled: z.boolean(),
  max_capacity_hint: z.int().nullable(),
  status: nodeStatus,
  consecutive_failures: z.int().min(0),
  consecutive_successes: z.int().min(0),
  last_checked_at: instant.nullable(),
  status_changed_at: instant.nullable(),
  note: z.string(),
  created_at: instant,
  updated_at: instant,
});
export type NodeResource = z.infer<typeof nodeResource>;

export const nodeSorts = ['created_at', '-created_at', 'name', '-name'] as const;
export type NodeSort = (typeof nodeSorts)[number];

/** A node for operators: also what the status hides. */
export const operatedNode = namedObject('Node', {
  ...nodeResource.shape,
  mode: nodeMode.describe('Unless it is `in_service`, it is shown as the status.'),
  health: nodeHealth.describe('What the checks found.'),
});
export type OperatedNode = z.infer<typeof operatedNode>;
