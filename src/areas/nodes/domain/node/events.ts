import { z } from 'zod';
import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { instant } from '../../../../validation/fields.js';
import { inQuotes } from '../../../../validation/text.js';

export const nodeType = z.enum(['normal', 'high_defense']).meta({ id: 'NodeType' });

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

export const nodeEvents = makeEvents('node-{id}', {
  NodeRegistered: event(
    description.shape,
    (description, id) => `registered node ${id}: ${nodeInWords(description)}`,
  ),
  /** The whole description after the change. */
  NodeChanged: event(
    description.shape,
    (description, id) => `changed node ${id}: ${nodeInWords(description)}`,
  ),
  /** The counters and the sequence are those of the result, or of the silence, that changed the status. */
  NodeStatusChanged: event(
    {
      status: nodeHealth,
      consecutive_failures: z.int().nonnegative(),
      consecutive_successes: z.int().nonnegative(),
      last_checked_at: instant,
      sequence: z.int().positive(),
      because: z.enum(['check', 'silence']),
    },
    ({ status, consecutive_failures, consecutive_successes, because }, id) =>
      because === 'silence'
        ? `found that no check of node ${id} was reported for a minute: ${status}`
        : `found node ${id} ${status}: ${consecutive_failures} checks failed and ${consecutive_successes} succeeded in a row`,
  ),
  NodeModeChanged: event({ mode: nodeMode }, ({ mode }, id) => `set the mode of node ${id} to ${mode}`),
  NodeRemoved: event({}, (_, id) => `removed node ${id}`),
});

export type NodeEvent = EventIn<typeof nodeEvents>;
export const { category: nodeCategory, codec: nodeCodec } = nodeEvents;

function nodeInWords({ name, node_type, ip_address, lb_weight, lb_enabled }: NodeDescription): string {
  return `${inQuotes(name)}, type ${node_type}, address ${ip_address}, weight ${lb_weight}, ${lb_enabled ? 'on' : 'off'}`;
}
