// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { instant } from '../../../../validation/fields.js';

/** Streams `node-<node id>`. */
export const nodeCategory = 'node';

export const nodeType = z.enum(['normal', 'high_defense']).meta({ id: 'NodeType' });
export type NodeType = z.infer<typeof nodeType>;

/** The status that checks and silence find (src/areas/nodes/README.md#node-checks). */
export const nodeHealth = z.enum(['unknown', 'healthy', 'degraded', 'unhealthy']);
export type NodeHealth = z.infer<typeof nodeHealth>;

/** The mode that an operator sets. While it is not `in_service`, it is shown as the status. */
export const nodeMode = z.enum(['in_service', 'draining', 'maintenance']).meta({ id: 'NodeMode' });
export type NodeMode = z.infer<typeof nodeMode>;

/** A node as an operator describes it. */
const description = z.strictObject({
  name: z.string().min(1),
  node_type: nodeType,
  /** In canonical spelling (RFC 5952 for IPv6). */
  ip_address: z.union([z.ipv4(), z.ipv6()]),
  ip_version: z.union([z.literal(4), z.literal(6)]),
  dnsprovider_record_id: z.string(),
  lb_weight: z.int().min(0).max(100),
  lb_enabled: z.boolean(),
  max_capacity_hint: z.int().nonnegative().nullable(),
  note: z.string(),
});
export type NodeDescription = z.infer<typeof description>;

const schemas = {
  NodeRegistered: description,
  /** The whole description after the change. */
  NodeChanged: description,
  /** The counters and the sequence are those of the result, or of the silence, that changed the status. */
  NodeStatusChanged: z.strictObject({
    status: nodeHealth,
    consecutive_failures: z.int().nonnegative(),
    consecutive_successes: z.int().nonnegative(),
    last_checked_at: instant,
    sequence: z.int().positive(),
    because: z.enum(['check', 'silence']),
  }),
  NodeModeChanged: z.strictObject({ mode: nodeMode }),
  NodeRemoved: z.strictObject({}),
};

export type NodeEvent = EventOf<typeof schemas>;
export const nodeCodec = makeEventCodec(schemas);
