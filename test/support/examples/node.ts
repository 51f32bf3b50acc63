import type { NodeDescription, NodeEvent } from '../../../src/areas/nodes/domain/node/events.js';

export const description: NodeDescription = {
  name: 'edge-1',
  node_type: 'normal',
  ip_address: '192.0.2.10',
  ip_version: 4,
  dnsprovider_record_id: 'rec-1',
  lb_weight: 50,
  lb_enabled: true,
  max_capacity_hint: null,
  note: '',
};

export const nodeRegistered = { type: 'NodeRegistered', data: description } as const satisfies NodeEvent;
export const nodeChanged = {
  type: 'NodeChanged',
  data: { ...description, lb_weight: 10 },
} as const satisfies NodeEvent;
export const nodeStatusChanged = {
  type: 'NodeStatusChanged',
  data: {
    status: 'healthy',
    consecutive_failures: 0,
    consecutive_successes: 2,
    last_checked_at: '2026-01-02T03:04:05.000Z',
    sequence: 7,
    because: 'check',
  },
} as const satisfies NodeEvent;
export const nodeModeChanged = {
  type: 'NodeModeChanged',
  data: { mode: 'draining' },
} as const satisfies NodeEvent;
export const nodeRemoved = { type: 'NodeRemoved', data: {} } as const satisfies NodeEvent;
