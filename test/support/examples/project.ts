import type { ProjectEvent } from '../../../src/domain/project/events.js';
import { orderId, otherUserId, storageId, userId } from './ids.js';

export const projectCreated = {
  type: 'ProjectCreated',
  data: { name: 'Rivers', owner_id: userId },
} as const satisfies ProjectEvent;
export const viewerAdded = {
  type: 'MemberAdded',
  data: { user_id: otherUserId, role: 'viewer', invitation_id: null },
} as const satisfies ProjectEvent;
export const grantedByOperator = {
  type: 'EntitlementGranted',
  data: { entitlement: 'allow_s3', source: 'operator' },
} as const satisfies ProjectEvent;
export const grantedByOrder = {
  type: 'EntitlementGranted',
  data: { entitlement: 'allow_s3', source: orderId },
} as const satisfies ProjectEvent;
export const revokedByOperator = {
  type: 'EntitlementRevoked',
  data: { entitlement: 'allow_s3', source: 'operator' },
} as const satisfies ProjectEvent;
export const defaultStorageChanged = {
  type: 'DefaultStorageChanged',
  data: { storage_id: storageId },
} as const satisfies ProjectEvent;
