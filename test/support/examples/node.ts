import { anEvent } from './event.js';
import { nodeCodec } from '../../../src/areas/nodes/domain/node/events.js';

export const nodeRegistered = anEvent(nodeCodec, 'NodeRegistered', {
  name: 'edge-1',
  node_type: 'normal',
  ip_address: '192.0.2.10',
  ip_version: 4,
  dnsprovider_record_id: 'rec-1',
  lb_weight: 50,
  lb_enabled: true,
  max_capacity_hint: null,
  note: '',
});
export const description = nodeRegistered.data;
export const nodeChanged = anEvent(nodeCodec, 'NodeChanged', { ...description, lb_weight: 10 });
export const nodeStatusChanged = anEvent(nodeCodec, 'NodeStatusChanged', {
  status: 'healthy',
  consecutive_failures: 0,
  consecutive_successes: 2,
  last_checked_at: '2026-01-02T03:04:05.000Z',
  sequence: 7,
  because: 'check',
});
export const nodeModeChanged = anEvent(nodeCodec, 'NodeModeChanged', { mode: 'draining' });
export const nodeRemoved = anEvent(nodeCodec, 'NodeRemoved', {});
