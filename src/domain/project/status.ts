import type { Recorded } from '../../event-sourcing/ports/domain-event.js';
import type { Sealed } from '../../event-sourcing/ports/sealed.js';
import type { Role } from '../role.js';
import type { ProjectEvent } from './events.js';

/** The fields that the aggregate and the view both fold, spelled as in the events. */
export type ProjectFields = {
  readonly name: string;
  readonly require_2fa: boolean;
  /** The user whose capacity the assets use: an owner (see `payerAmong`). */
  readonly billed_to: string;
  /** In the order in which they joined. */
  readonly members: readonly MemberEntry[];
  /** The open invitations. */
  readonly invitations: readonly InvitationEntry[];
  /** One entry per entitlement and source. */
  readonly entitlements: readonly EntitlementGrant[];
  /** The keys that are not revoked. */
  readonly api_keys: readonly ApiKeyEntry[];
  readonly default_storage_id: string | null;
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

export type EntitlementGrant = { readonly entitlement: string; readonly source: string };

/** A key as it was issued. `digest`: SHA-256 of the whole key, hexadecimal. */
export type ApiKeyEntry = Omit<Extract<ProjectEvent, { type: 'ApiKeyIssued' }>['data'], 'key_id'> & {
  readonly id: string;
  readonly created_at: string;
};

export function newProject({
  time,
  data: { name, owner_id: user_id },
}: Recorded<Extract<ProjectEvent, { type: 'ProjectCreated' }>>): ProjectFields {
  return {
    name,
    require_2fa: false,
    billed_to: user_id,
    members: [{ user_id, role: 'owner', joined_at: time }],
    ...{ invitations: [], entitlements: [], api_keys: [], default_storage_id: null },
  };
}

/** Returns the fields that the event changes. */
export function applyEvent(
  { billed_to, members, invitations, entitlements, api_keys }: ProjectFields,
  event: Exclude<Recorded<ProjectEvent>, { type: 'ProjectCreated' | 'ProjectDeleted' }>,
): Partial<ProjectFields> {
  switch (event.type) {
    case 'ProjectRenamed':
      return { name: event.data.name };
    case 'TwoFactorRequirementChanged':
      return { require_2fa: event.data.require_2fa };
    case 'MemberInvited': {
      const { invitation_id: id, email, email_digest, role } = event.data;
      return { invitations: [...invitations, { id, email, email_digest, role, invited_at: event.time }] };
    }
    case 'InvitationMailed':
      return {};
    case 'InvitationRoleChanged': {
      const { invitation_id, role } = event.data;
      return { invitations: invitations.map((one) => (one.id === invitation_id ? { ...one, role } : one)) };
    }
    case 'InvitationWithdrawn':
      return { invitations: invitations.filter(({ id }) => id !== event.data.invitation_id) };
    case 'MemberAdded': {
      const { user_id, role, invitation_id } = event.data;
      return {
        members: [...withoutMember(members, user_id), { user_id, role, joined_at: event.time }],
        invitations: invitations.filter(({ id }) => id !== invitation_id),
      };
    }
    case 'MemberRoleChanged': {
      const { user_id, role } = event.data;
      return withPayer(
        billed_to,
        members.map((one) => (one.user_id === user_id ? { ...one, role } : one)),
      );
    }
    case 'MemberRemoved':
      return withPayer(billed_to, withoutMember(members, event.data.user_id));
    case 'EntitlementGranted':
      return { entitlements: [...withoutGrant(entitlements, event.data), event.data] };
    case 'EntitlementRevoked':
      return { entitlements: withoutGrant(entitlements, event.data) };
    case 'ApiKeyIssued': {
      const { key_id: id, ...issued } = event.data;
      return { api_keys: [...api_keys, { id, ...issued, created_at: event.time }] };
    }
    case 'ApiKeyRevoked':
      return { api_keys: api_keys.filter(({ id }) => id !== event.data.key_id) };
    case 'DefaultStorageChanged':
      return { default_storage_id: event.data.storage_id };
  }
}

/** Returns the users for whom the project counts as owned: the payer and the owners. */
export function ownersOf({
  billed_to,
  members,
}: Pick<ProjectFields, 'billed_to' | 'members'>): readonly string[] {
  const owners = members.filter(({ role }) => role === 'owner').map(({ user_id }) => user_id);
  return [...new Set([billed_to, ...owners])];
}

/** Returns null if the user is not a member. */
export function roleIn({ members }: Pick<ProjectFields, 'members'>, userId: string): Role | null {
  return members.find(({ user_id }) => user_id === userId)?.role ?? null;
}

export function invitationOf(
  { invitations }: Pick<ProjectFields, 'invitations'>,
  invitationId: string,
): InvitationEntry | null {
  return invitations.find(({ id }) => id === invitationId) ?? null;
}

function withPayer(
  billedTo: string,
  members: readonly MemberEntry[],
): Pick<ProjectFields, 'billed_to' | 'members'> {
  return { billed_to: payerAmong(members, billedTo), members };
}

/**
 * Returns who pays: `billedTo` while they are an owner, else the owner who joined first. In logs from before there was
 * one payer, the creator may have left; all owners paid then.
 */
function payerAmong(members: readonly MemberEntry[], billedTo: string): string {
  const owners = members.filter(({ role }) => role === 'owner').map(({ user_id }) => user_id);
  return owners.includes(billedTo) ? billedTo : (owners[0] ?? billedTo);
}

function withoutMember(members: readonly MemberEntry[], userId: string): readonly MemberEntry[] {
  return members.filter(({ user_id }) => user_id !== userId);
}

function withoutGrant(
  grants: readonly EntitlementGrant[],
  { entitlement, source }: EntitlementGrant,
): readonly EntitlementGrant[] {
  return grants.filter((one) => one.entitlement !== entitlement || one.source !== source);
}
