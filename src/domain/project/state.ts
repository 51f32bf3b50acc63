import type { GrantSource } from '../fields.js';
import type { Role } from '../role.js';
import type { Entitlement, ProjectEvent } from './events.js';

export type ProjectState =
  | { readonly status: 'absent' }
  | ExistingProject
  | {
      readonly status: 'deleted';
      /** Those that were open: nobody needs their addresses any more. */
      readonly invitationIds: readonly string[];
    };

export interface ExistingProject {
  readonly status: 'existing';
  readonly name: string;
  readonly requireTwoFactor: boolean;
  /** By user id, in the order in which they joined. */
  readonly members: ReadonlyMap<string, Role>;
  /** By id: those that wait for their address to be verified. */
  readonly invitations: ReadonlyMap<string, Invitation>;
  /** What holds, by `grantKey`. */
  readonly grants: ReadonlySet<string>;
  /** By id: those that were not revoked. */
  readonly apiKeys: ReadonlyMap<string, ApiKey>;
  readonly defaultStorageId: string | null;
}

export interface Invitation {
  readonly emailDigest: string;
  readonly role: Role;
  readonly mailed: boolean;
}

export interface ApiKey {
  readonly issuedBy: string;
  readonly expiresAt: Date;
}

export function evolve(state: ProjectState, event: ProjectEvent): ProjectState {
  if (event.type === 'ProjectCreated') {
    return {
      status: 'existing',
      name: event.data.name,
      requireTwoFactor: false,
      members: new Map([[event.data.owner_id, 'owner']]),
      invitations: new Map(),
      grants: new Set(),
      apiKeys: new Map(),
      defaultStorageId: null,
    };
  }
  if (state.status !== 'existing') return state;
  if (event.type === 'ProjectDeleted') {
    return { status: 'deleted', invitationIds: [...state.invitations.keys()] };
  }
  return { ...state, ...changeOf(state, event) };
}

function changeOf(
  state: ExistingProject,
  event: Exclude<ProjectEvent, { type: 'ProjectCreated' | 'ProjectDeleted' }>,
): Partial<ExistingProject> {
  switch (event.type) {
    case 'ProjectRenamed':
      return { name: event.data.name };
    case 'TwoFactorRequirementChanged':
      return { requireTwoFactor: event.data.require_2fa };
    case 'MemberInvited': {
      const { invitation_id: id, email_digest: emailDigest, role } = event.data;
      return { invitations: new Map(state.invitations).set(id, { emailDigest, role, mailed: false }) };
    }
    case 'InvitationMailed':
      return withInvitation(state, event.data.invitation_id, { mailed: true });
    case 'InvitationRoleChanged':
      return withInvitation(state, event.data.invitation_id, { role: event.data.role });
    case 'InvitationWithdrawn':
      return { invitations: without(state.invitations, event.data.invitation_id) };
    case 'MemberAdded': {
      const { user_id: userId, role, invitation_id: invitationId } = event.data;
      const members = new Map(state.members).set(userId, role);
      if (invitationId === null) return { members };
      return { members, invitations: without(state.invitations, invitationId) };
    }
    case 'MemberRoleChanged':
      return { members: new Map(state.members).set(event.data.user_id, event.data.role) };
    case 'MemberRemoved':
      return { members: without(state.members, event.data.user_id) };
    case 'EntitlementGranted':
      return { grants: new Set(state.grants).add(grantKey(event.data)) };
    case 'EntitlementRevoked': {
      const grants = new Set(state.grants);
      grants.delete(grantKey(event.data));
      return { grants };
    }
    case 'ApiKeyIssued': {
      const { key_id: id, issued_by: issuedBy, expires_at } = event.data;
      return { apiKeys: new Map(state.apiKeys).set(id, { issuedBy, expiresAt: new Date(expires_at) }) };
    }
    case 'ApiKeyRevoked':
      return { apiKeys: without(state.apiKeys, event.data.key_id) };
    case 'DefaultStorageChanged':
      return { defaultStorageId: event.data.storage_id };
  }
}

function withInvitation(
  { invitations }: ExistingProject,
  id: string,
  change: Partial<Invitation>,
): Partial<ExistingProject> {
  const invitation = invitations.get(id);
  if (invitation === undefined) return {};
  return { invitations: new Map(invitations).set(id, { ...invitation, ...change }) };
}

export function grantKey(grant: { readonly entitlement: Entitlement; readonly source: GrantSource }): string {
  return `${grant.entitlement}/${grant.source}`;
}

function without<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
