import type { Role } from '../../../src/areas/projects/domain/role.js';
import { projectCodec, type ProjectEvent } from '../../../src/areas/projects/domain/project/events.js';
import { anEvent } from './event.js';
import type { ProjectCommand } from '../../../src/areas/projects/domain/project/project.js';
import { digest, orderId, otherDigest, otherUserId, storageId, userId } from './ids.js';
import { sealedExample } from './sealed.js';

export const projectCreated = anEvent(projectCodec, 'ProjectCreated', { name: 'Rivers', owner_id: userId });
export const viewerAdded = anEvent(projectCodec, 'MemberAdded', {
  user_id: otherUserId,
  role: 'viewer',
  invitation_id: null,
  given_by: userId,
});
/** The command that decides `viewerAdded`. */
export const addViewer = {
  ...{ type: 'AddMember', actorId: userId, userId: otherUserId },
  ...{ email_digest: otherDigest, role: 'viewer', now: new Date('2026-01-02T03:10:00.000Z') },
} as const satisfies ProjectCommand;
export const grantedByOperator = anEvent(projectCodec, 'EntitlementGranted', {
  entitlement: 'allow_s3',
  source: 'operator',
});
export const grantedByOrder = anEvent(projectCodec, 'EntitlementGranted', {
  entitlement: 'allow_s3',
  source: orderId,
});
export const revokedByOperator = anEvent(projectCodec, 'EntitlementRevoked', {
  entitlement: 'allow_s3',
  source: 'operator',
});
export const defaultStorageChanged = anEvent(projectCodec, 'DefaultStorageChanged', {
  storage_id: storageId,
});

/** Makes a member's id. The owner of `projectCreated` is `userId`. */
export const memberId = (n: number): string =>
  `019b7d00-0000-7000-8000-0000000a${String(n).padStart(4, '0')}`;
export const invitationId = '019b7d00-0000-7000-8000-000000000061';
export const offerId = '019b7d00-0000-7000-8000-000000000063';
/** The id of an offer that a command may make, and the time of the command. */
export const offering = { offerId, now: addViewer.now } as const;
export const apiKeyId = '019b7d00-0000-7000-8000-000000000071';

export const memberAdded = (id: string, role: Role): ProjectEvent =>
  anEvent(projectCodec, 'MemberAdded', { user_id: id, role, invitation_id: null });
export const memberInvited = (role: Role, id = invitationId, email_digest = digest): ProjectEvent =>
  anEvent(projectCodec, 'MemberInvited', {
    invitation_id: id,
    email: sealedExample('bob@example.com'),
    email_digest,
    role,
    invited_by: userId,
  });
export const memberRemoved = (id: string): ProjectEvent =>
  anEvent(projectCodec, 'MemberRemoved', { user_id: id });
export const apiKeyIssued = (
  id: string,
  issuedBy: string,
  expiresAt = '2026-06-01T00:00:00.000Z',
): ProjectEvent =>
  anEvent(projectCodec, 'ApiKeyIssued', {
    key_id: id,
    name: 'Export',
    digest,
    prefix: 'stw_0123',
    last_four: 'wxyz',
    scopes: ['storage:read'],
    expires_at: expiresAt,
    issued_by: issuedBy,
  });
export const apiKeyRevoked = (id: string): ProjectEvent =>
  anEvent(projectCodec, 'ApiKeyRevoked', { key_id: id });
