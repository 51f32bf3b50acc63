import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import type { Sealed } from '../../src/event-sourcing/sealed.js';
import { projectCodec, type ProjectEvent } from '../../src/domain/project/events.js';
import type { Role } from '../../src/domain/role.js';
import type { Scope } from '../../src/domain/scope.js';
import { projectCategory } from '../../src/domain/project/stream.js';

export type ProjectDocument = {
  readonly name: string;
  readonly require_2fa: boolean;
  readonly members: readonly MemberEntry[];
  readonly invitations: readonly InvitationEntry[];
  /** Each source of each entitlement. */
  readonly entitlements: readonly { readonly entitlement: string; readonly source: string }[];
  readonly api_keys: readonly ApiKeyEntry[];
  readonly default_storage_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type MemberEntry = {
  readonly user_id: string;
  readonly role: Role;
  readonly joined_at: string;
};

/** `email`: sealed for the invitation. */
export type InvitationEntry = {
  readonly id: string;
  readonly email: Sealed;
  readonly email_digest: string;
  readonly role: Role;
  readonly invited_at: string;
};

/** `digest`: SHA-256 of the whole key, hexadecimal. */
export type ApiKeyEntry = {
  readonly id: string;
  readonly name: string;
  readonly digest: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string;
  /** Of the user. */
  readonly issued_by: string;
  readonly created_at: string;
};

function evolve(document: ProjectDocument | null, event: Recorded<ProjectEvent>): ProjectDocument | null {
  if (event.type === 'ProjectCreated') {
    return {
      name: event.data.name,
      require_2fa: false,
      members: [{ user_id: event.data.owner_id, role: 'owner', joined_at: event.time }],
      invitations: [],
      entitlements: [],
      api_keys: [],
      default_storage_id: null,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null || event.type === 'ProjectDeleted') return null;
  return { ...document, ...changeOf(document, event), updated_at: event.time };
}

function changeOf(
  document: ProjectDocument,
  event: Exclude<Recorded<ProjectEvent>, { type: 'ProjectCreated' | 'ProjectDeleted' }>,
): Partial<ProjectDocument> {
  switch (event.type) {
    case 'ProjectRenamed':
      return { name: event.data.name };
    case 'TwoFactorRequirementChanged':
      return { require_2fa: event.data.require_2fa };
    case 'MemberInvited': {
      const { invitation_id: id, email, email_digest, role } = event.data;
      const invitation = { id, email, email_digest, role, invited_at: event.time };
      return { invitations: [...document.invitations, invitation] };
    }
    case 'InvitationMailed':
      return {};
    case 'InvitationRoleChanged': {
      const { invitation_id, role } = event.data;
      return {
        invitations: document.invitations.map((invitation) =>
          invitation.id === invitation_id ? { ...invitation, role } : invitation,
        ),
      };
    }
    case 'InvitationWithdrawn':
      return { invitations: withoutInvitation(document, event.data.invitation_id) };
    case 'MemberAdded': {
      const { user_id, role, invitation_id } = event.data;
      const others = document.members.filter((member) => member.user_id !== user_id);
      return {
        members: [...others, { user_id, role, joined_at: event.time }],
        invitations: withoutInvitation(document, invitation_id),
      };
    }
    case 'MemberRoleChanged': {
      const { user_id, role } = event.data;
      return {
        members: document.members.map((member) =>
          member.user_id === user_id ? { ...member, role } : member,
        ),
      };
    }
    case 'MemberRemoved':
      return { members: document.members.filter(({ user_id }) => user_id !== event.data.user_id) };
    case 'EntitlementGranted':
      return { entitlements: [...withoutGrant(document, event.data), event.data] };
    case 'EntitlementRevoked':
      return { entitlements: withoutGrant(document, event.data) };
    case 'ApiKeyIssued': {
      const { key_id: id, ...kept } = event.data;
      const key = { id, ...kept, created_at: event.time };
      return { api_keys: [...document.api_keys, key] };
    }
    case 'ApiKeyRevoked':
      return { api_keys: document.api_keys.filter(({ id }) => id !== event.data.key_id) };
    case 'DefaultStorageChanged':
      return { default_storage_id: event.data.storage_id };
  }
}

function withoutInvitation(
  { invitations }: ProjectDocument,
  invitationId: string | null,
): readonly InvitationEntry[] {
  return invitations.filter(({ id }) => id !== invitationId);
}

function withoutGrant(
  { entitlements }: ProjectDocument,
  grant: { readonly entitlement: string; readonly source: string },
): ProjectDocument['entitlements'] {
  return entitlements.filter(
    ({ entitlement, source }) => entitlement !== grant.entitlement || source !== grant.source,
  );
}

export const projectsProjection: Projection<ProjectDocument, ProjectEvent> = {
  name: 'projects',
  version: 3,
  category: projectCategory,
  codec: projectCodec,
  indexes: ['members.user_id', 'invitations.email_digest', 'api_keys.digest'],
  evolve,
};
