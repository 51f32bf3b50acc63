import { z } from 'zod';

/** The status that health checks find or an operator sets (docs/design.md#peer-nodes). */
export const nodeStatus = z.enum(['unknown', 'healthy', 'degraded', 'unhealthy', 'draining', 'maintenance']);
export type NodeStatus = z.infer<typeof nodeStatus>;
