// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/ports/event-codec.js';

/** Streams `node-<node id>`. */
export const nodeCategory = 'node';

export const nodeType = z.enum(['normal', 'high_defense']);
export type NodeType = z.infer<typeof nodeType>;

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
  NodeRemoved: z.strictObject({}),
};

export type NodeEvent = EventOf<typeof schemas>;
export const nodeCodec = makeEventCodec(schemas);
