import { changeBy, type ChangesBy } from '../../../../event-sourcing/ports/events.js';
import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Recorded, Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { Role } from '../role.js';
import type { OfferKind, ProjectEvent } from './events.js';

/** The fields that the aggregate and the view both fold, spelled as in the events. */
export type ProjectFields = {
  readonly name: string;
  readonly require_2fa: boolean;
  /** `#rrggbb` for the pages of shares; null: the colour of the service. */
  readonly accent_color: string | null;
  /** Whether shares may open without a password. */
  readonly open_shares: boolean;
  /** The user whose capacity the assets use: an owner, or a user whose account was erased (see `payerAfter`). */
  readonly billed_to: string;
  /** In the order in which they joined. */
  readonly members: readonly MemberEntry[];
  /** The open invitations. */
  readonly invitations: readonly InvitationEntry[];
  /**
   * At most one for each member, and one that names a payer. An offer holds while its giver is an owner and its receiver can still
   * use it: see `offerHolds`.
   */
  readonly offers: readonly OfferEntry[];
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
  /** The member who answers for the invitation. */
  readonly invited_by: string;
  readonly invited_at: string;
  /** When the role was chosen. */
  readonly role_at: string;
};

export type OfferEntry = {
  readonly id: string;
  readonly kind: OfferKind;
  readonly user_id: string;
  readonly offered_by: string;
  readonly offered_at: string;
  readonly expires_at: string;
};

type EntitlementGrant = { readonly entitlement: string; readonly source: string };

/** A key as it was issued. `digest`: SHA-256 of the whole key, hexadecimal. */
type ApiKeyEntry = Omit<Extract<ProjectEvent, { type: 'ApiKeyIssued' }>['data'], 'key_id'> & {
  readonly id: string;
  readonly created_at: string;
};

/** Returns the fields after an event; null where there is no project, or none any more. */
export function fieldsAfter(
  before: ProjectFields | null,
  event: Recorded<ProjectEvent>,
): ProjectFields | null {
  if (event.type === 'ProjectCreated') return newProject(event);
  if (before === null || event.type === 'ProjectDeleted') return null;
  return { ...before, ...changeBy(changes, event, before) };
}

function newProject({
  time,
  data: { name, owner_id: user_id },
}: Recorded<Extract<ProjectEvent, { type: 'ProjectCreated' }>>): ProjectFields {
  return {
    name,
    require_2fa: false,
    ...{ accent_color: null, open_shares: false },
    billed_to: user_id,
    members: [{ user_id, role: 'owner', joined_at: time }],
    ...{ invitations: [], offers: [], entitlements: [], api_keys: [], default_storage_id: null },
  };
}

const changes: ChangesBy<Recorded<ProjectEvent>, ProjectFields, Partial<ProjectFields>> = {
  ProjectRenamed: ({ data: { name } }) => ({ name }),
  TwoFactorRequirementChanged: ({ data: { require_2fa } }) => ({ require_2fa }),
  AccentColorChanged: ({ data: { accent_color } }) => ({ accent_color }),
  OpenSharesChanged: ({ data: { open_shares } }) => ({ open_shares }),
  MemberInvited: ({ data, time }, { invitations }) => {
    const { invitation_id: id, email, email_digest, role, invited_by } = data;
    const entry = { id, email, email_digest, role, invited_by, invited_at: time, role_at: time };
    return { invitations: [...invitations, entry] };
  },
  InvitationRoleChanged: ({ data: { invitation_id, role, changed_by }, time }, { invitations }) => {
    const changed = { role, role_at: time, invited_by: changed_by };
    return {
      invitations: invitations.map((one) => (one.id === invitation_id ? { ...one, ...changed } : one)),
    };
  },
  InvitationWithdrawn: ({ data }, { invitations }) => ({
    invitations: invitations.filter(({ id }) => id !== data.invitation_id),
  }),
  MemberAdded: ({ data: { user_id, role, invitation_id }, time }, { members, invitations }) => ({
    members: [...withoutMember(members, user_id), { user_id, role, joined_at: time }],
    invitations: invitations.filter(({ id }) => id !== invitation_id),
  }),
  MemberRoleChanged: (event, before) => {
    const { user_id, role } = event.data;
    const members = before.members.map((one) => (one.user_id === user_id ? { ...one, role } : one));
    return withMembers(before, members, event);
  },
  MemberRemoved: (event, before) =>
    withMembers(before, withoutMember(before.members, event.data.user_id), event),
  OfferMade: ({ data: { offer_id: id, ...offered }, time }, { offers }) => ({
    offers: [...offers, { id, ...offered, offered_at: time }],
  }),
  OfferEnded: ({ data }, { offers }) => ({ offers: offers.filter(({ id }) => id !== data.offer_id) }),
  BillingChanged: ({ data }, { offers }) => ({
    billed_to: data.user_id,
    offers: offers.filter(({ kind }) => kind === 'owner'),
  }),
  EntitlementGranted: ({ data }, { entitlements }) => ({
    entitlements: [...withoutGrant(entitlements, data), data],
  }),
  EntitlementRevoked: ({ data }, { entitlements }) => ({ entitlements: withoutGrant(entitlements, data) }),
  ApiKeyIssued: ({ data: { key_id: id, ...issued }, time }, { api_keys }) => ({
    api_keys: [...api_keys, { id, ...issued, created_at: time }],
  }),
  ApiKeyRevoked: ({ data }, { api_keys }) => ({ api_keys: api_keys.filter(({ id }) => id !== data.key_id) }),
  DefaultStorageChanged: ({ data }) => ({ default_storage_id: data.storage_id }),
};

/** Returns the users for whom the project counts as owned: the payer and the owners. */
export function ownersOf(input: Pick<ProjectFields, 'billed_to' | 'members'>): readonly string[] {
  return [...new Set([input.billed_to, ...ownersAmong(input.members)])];
}

function ownersAmong(members: readonly MemberEntry[]): readonly string[] {
  return members.filter(({ role }) => role === 'owner').map(({ user_id }) => user_id);
}

/** Returns null if the user is not a member. */
export function roleIn({ members }: Pick<ProjectFields, 'members'>, userId: string): Role | null {
  return members.find(({ user_id }) => user_id === userId)?.role ?? null;
}

function withMembers(
  { billed_to, offers }: ProjectFields,
  members: readonly MemberEntry[],
  event: Extract<ProjectEvent, { type: 'MemberRoleChanged' | 'MemberRemoved' }>,
): Partial<ProjectFields> {
  return {
    members,
    billed_to: payerAfter(event, members, billed_to),
    offers: offers.filter((offer) => offerHolds(offer, { members })),
  };
}

/**
 * Returns who pays after the event. When a payer is no owner any more, because the account that offered it the role is not
 * trusted, the owner who joined first pays. A payer whose account was erased stays the payer until an owner takes the billing
 * over, so that no user pays without consent.
 */
function payerAfter(
  { type, data }: Extract<ProjectEvent, { type: 'MemberRoleChanged' | 'MemberRemoved' }>,
  members: readonly MemberEntry[],
  billedTo: string,
): string {
  const owners = ownersAmong(members);
  if (owners.includes(billedTo)) return billedTo;
  if (type === 'MemberRemoved' && data.erased === true) return billedTo;
  return data.user_id === billedTo ? (owners[0] ?? billedTo) : billedTo;
}

/** Says whether the giver may still make the offer, and the receiver can still use it. */
function offerHolds(
  { kind, user_id, offered_by }: OfferEntry,
  project: Pick<ProjectFields, 'members'>,
): boolean {
  if (roleIn(project, offered_by) !== 'owner') return false;
  const held = roleIn(project, user_id);
  return held !== null && (held === 'owner') === (kind === 'payer');
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

export type ProjectState =
  | { readonly status: 'absent' }
  | ExistingProject
  | {
      readonly status: 'deleted';
      /** The invitations that were open, whose keys can be destroyed. */
      readonly invitationIds: readonly string[];
    };

export interface ExistingProject extends ProjectFields, Traces {
  readonly status: 'existing';
}

/** What only the decisions need of the stream. */
interface Traces {
  /** The open invitations whose mail was accepted or refused. They are not mailed again. */
  readonly mailed: ReadonlySet<string>;
  /** How members were added, also removed ones, by user id; not the creator. The newest `additionsMax`. */
  readonly additions: ReadonlyMap<string, MemberAddition>;
  /** The revoked keys and the ended invitations, newest last. A late repetition does not make one of them again. */
  readonly endedIds: readonly string[];
  /** By the id of the member, the invitation or the API key. Only those that the project has. */
  readonly given: ReadonlyMap<string, GivenAccess>;
}

/** The command that added a member, and the invitation that ended with it. A repeated command recognises its work. */
export type MemberAddition = { readonly commandId: string; readonly invitationId: string | null };

/** The giver of a membership, an invitation or an API key; null where no user gave it. */
export interface GivenAccess {
  readonly by: string | null;
  /** The store's recorded time. */
  readonly at: Date;
}

/** More than a project has at once, so that one command that ends all of them does not push out the others. */
const endedIdsMax = 600;
/** Twice the members of a project. */
const additionsMax = 400;

const noTraces: Traces = { mailed: new Set(), additions: new Map(), endedIds: [], given: new Map() };

export function evolve(state: ProjectState, event: Evolving<ProjectEvent>): ProjectState {
  const before = state.status === 'existing' ? state : null;
  const fields = fieldsAfter(before, event);
  if (fields !== null)
    return {
      ...(before ?? noTraces),
      ...fields,
      status: 'existing',
      ...(before && changeBy(traces, event, before)),
    };
  return before === null
    ? state
    : { status: 'deleted', invitationIds: before.invitations.map(({ id }) => id) };
}

const traces: ChangesBy<Evolving<ProjectEvent>, Traces, Partial<Traces>> = {
  MemberInvited: ({ data, recordedAt }, before) =>
    givenBy(before, data.invitation_id, data.invited_by, recordedAt),
  InvitationMailed: ({ data }, { mailed }) => ({ mailed: new Set(mailed).add(data.invitation_id) }),
  InvitationRoleChanged: ({ data, recordedAt }, before) =>
    givenBy(before, data.invitation_id, data.changed_by, recordedAt),
  InvitationWithdrawn: ({ data }, before) => tracesWithout(before, data.invitation_id),
  MemberAdded: ({ data, metadata, recordedAt: at }, before) => {
    const { user_id, invitation_id, given_by } = data;
    const invited = invitation_id === null ? undefined : before.given.get(invitation_id);
    const after = invitation_id === null ? {} : tracesWithout(before, invitation_id);
    const added = { commandId: metadata.command_id, invitationId: invitation_id };
    const others = [...before.additions].filter(([userId]) => userId !== user_id);
    return {
      ...after,
      additions: new Map([...others, [user_id, added] as const].slice(-additionsMax)),
      given: new Map(after.given ?? before.given).set(user_id, invited ?? { by: given_by ?? null, at }),
    };
  },
  MemberRemoved: ({ data }, { given }) => ({ given: without(given, data.user_id) }),
  ApiKeyIssued: ({ data, recordedAt }, before) => givenBy(before, data.key_id, data.issued_by, recordedAt),
  ApiKeyRevoked: ({ data }, before) => tracesWithout(before, data.key_id),
};

function givenBy({ given }: Traces, id: string, by: string, at: Date): Partial<Traces> {
  return { given: new Map(given).set(id, { by, at }) };
}

/** Ends an invitation or a key. */
function tracesWithout({ mailed, endedIds, given }: Traces, id: string): Partial<Traces> {
  const open = new Set([...mailed].filter((one) => one !== id));
  return { mailed: open, endedIds: [...endedIds, id].slice(-endedIdsMax), given: without(given, id) };
}

function without(given: Traces['given'], id: string): Traces['given'] {
  return new Map([...given].filter(([one]) => one !== id));
}
