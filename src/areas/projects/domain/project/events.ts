import { z } from 'zod';
import { event, type EventIn, makeEvents, sealedSchema } from '../../../../event-sourcing/ports/events.js';
import { entityId, grantSource, hexDigest, instant, mailOutcome } from '../../../../validation/fields.js';
import { role, scope } from '../role.js';
import { inQuotes, outcomeInWords, sourceInWords } from '../../../../validation/text.js';

const withdrawals = {
  declined: 'the person declined it',
  expired: 'it expired',
  inviter_lost_right: 'the member who invited may not give the role any more',
} as const;

const offered = { owner: 'the ownership of', payer: 'to pay for', both: 'to own and to pay for' } as const;

const offerEndings = {
  withdrawn: 'it was withdrawn',
  declined: 'it was declined',
  expired: 'it expired',
} as const;

/** An additional permission of a project. `allow_s3`: it may create storages. */
export const entitlement = z.enum(['allow_s3']);
export type Entitlement = z.infer<typeof entitlement>;

/** The member who gave the role at once, about which the user gets a mail. Absent: the user accepted it, or lost a role. */
const givenBy = entityId.exactOptional();

/** A colour in lower-case hexadecimal. */
export const accentColor = z.string().regex(/^#[0-9a-f]{6}$/);

/** What the receiver of an offer becomes: an owner, the payer, or both. */
export const offerKind = z.enum(['owner', 'payer', 'both']);
export type OfferKind = z.infer<typeof offerKind>;

export const projectEvents = makeEvents('project-{id}', {
  /** The owner is the first member. */
  ProjectCreated: event(
    { name: z.string().min(1), owner_id: entityId },
    ({ name, owner_id }, id) =>
      `created project ${id} with the name ${inQuotes(name)} and the owner ${owner_id}`,
  ),
  ProjectRenamed: event(
    { name: z.string().min(1) },
    ({ name }, id) => `renamed project ${id} to ${inQuotes(name)}`,
  ),
  TwoFactorRequirementChanged: event({ require_2fa: z.boolean() }, ({ require_2fa }, id) =>
    require_2fa
      ? `made two-factor authentication a requirement of project ${id}`
      : `removed the requirement of two-factor authentication from project ${id}`,
  ),
  /** For pages that visitors see. */
  AccentColorChanged: event({ accent_color: accentColor.nullable() }, ({ accent_color }, id) =>
    accent_color === null
      ? `removed the accent colour of project ${id}`
      : `changed the accent colour of project ${id} to ${accent_color}`,
  ),
  /** Whether editors may make shares that open without a password. */
  OpenSharesChanged: event({ open_shares: z.boolean() }, ({ open_shares }, id) =>
    open_shares
      ? `allowed shares without a password in project ${id}`
      : `forbade shares without a password in project ${id}`,
  ),
  ProjectDeleted: event({}, (_, id) => `deleted project ${id}`),
  /** Membership begins when an account verifies the address. */
  MemberInvited: event(
    {
      invitation_id: entityId,
      /** Sealed for the invitation, whose key is destroyed when the invitation ends. */
      email: sealedSchema,
      email_digest: hexDigest,
      role,
      invited_by: entityId,
    },
    ({ invitation_id, role, invited_by }, id) =>
      `invited a person to project ${id} as ${role} (invitation ${invitation_id}, by user ${invited_by}); the address is sealed`,
  ),
  InvitationMailed: event(
    { invitation_id: entityId, outcome: mailOutcome },
    ({ invitation_id, outcome }, id) =>
      `mailed invitation ${invitation_id} of project ${id}; ${outcomeInWords(outcome)}`,
  ),
  /** `changed_by`: the member who answers for the invitation from now on. */
  InvitationRoleChanged: event(
    { invitation_id: entityId, role, changed_by: entityId },
    ({ invitation_id, role, changed_by }, id) =>
      `changed the role of invitation ${invitation_id} of project ${id} to ${role}, for user ${changed_by}`,
  ),
  /** Without a reason: a member took it back, or the address belongs to a member already. */
  InvitationWithdrawn: event(
    {
      invitation_id: entityId,
      /** `inviter_lost_right`: who invited may not give this role any more. */
      reason: z.enum(['declined', 'expired', 'inviter_lost_right']).exactOptional(),
    },
    ({ invitation_id, reason }, id) =>
      `ended invitation ${invitation_id} of project ${id}` +
      (reason === undefined ? '' : `: ${withdrawals[reason]}`),
  ),
  /** `invitation_id`: the invitation that this ends; null if there was none. */
  MemberAdded: event(
    { user_id: entityId, role, invitation_id: entityId.nullable(), given_by: givenBy },
    ({ user_id, role, invitation_id, given_by }, id) =>
      `made user ${user_id} a member of project ${id} as ${role}` +
      (invitation_id === null ? '' : ` (invitation ${invitation_id})`) +
      (given_by === undefined ? '' : `; user ${given_by} gave the role`),
  ),
  MemberRoleChanged: event(
    { user_id: entityId, role, given_by: givenBy },
    ({ user_id, role, given_by }, id) =>
      `changed the role of user ${user_id} in project ${id} to ${role}` +
      (given_by === undefined ? '' : `; user ${given_by} gave the role`),
  ),
  /** `erased`: the account of the member was erased. */
  MemberRemoved: event(
    { user_id: entityId, erased: z.literal(true).exactOptional() },
    ({ user_id, erased }, id) =>
      `removed user ${user_id} from project ${id}` +
      (erased === undefined ? '' : ', because the account was erased'),
  ),
  /** They accept by MemberRoleChanged, by BillingChanged, or by both. */
  OfferMade: event(
    { offer_id: entityId, kind: offerKind, user_id: entityId, offered_by: entityId, expires_at: instant },
    ({ offer_id, kind, user_id, offered_by, expires_at }, id) =>
      `offered user ${user_id} ${offered[kind]} project ${id} (offer ${offer_id}, by user ${offered_by}, until ${expires_at})`,
  ),
  /** The offer was not accepted. An offer also ends when a role changes: see `ProjectFields.offers`. */
  OfferEnded: event(
    { offer_id: entityId, reason: z.enum(['withdrawn', 'declined', 'expired']) },
    ({ offer_id, reason }, id) => `ended offer ${offer_id} of project ${id}: ${offerEndings[reason]}`,
  ),
  /** The assets use the capacity of this user from now on. */
  BillingChanged: event(
    { user_id: entityId },
    ({ user_id }, id) => `made user ${user_id} the payer of project ${id}`,
  ),
  /** One grant per source. The project is entitled while one source grants. */
  EntitlementGranted: event(
    { entitlement, source: grantSource },
    ({ entitlement, source }, id) =>
      `gave project ${id} the entitlement ${entitlement} ${sourceInWords(source)}`,
  ),
  EntitlementRevoked: event(
    { entitlement, source: grantSource },
    ({ entitlement, source }, id) =>
      `took from project ${id} the entitlement ${entitlement} that was given ${sourceInWords(source)}`,
  ),
  ApiKeyIssued: event(
    {
      key_id: entityId,
      name: z.string().min(1),
      /** SHA-256 of the whole key. */
      digest: hexDigest,
      /** The first characters of the key. People recognise it by these and the last four. */
      prefix: z.string().min(1),
      last_four: z.string().length(4),
      scopes: z.array(scope).min(1),
      expires_at: instant,
      issued_by: entityId,
    },
    ({ key_id, name, scopes, expires_at, issued_by }, id) =>
      `issued API key ${key_id} of project ${id} with the name ${inQuotes(name)} and the scopes ${scopes.join(', ')}, ` +
      `until ${expires_at}, for user ${issued_by}`,
  ),
  ApiKeyRevoked: event(
    { key_id: entityId },
    ({ key_id }, id) => `revoked API key ${key_id} of project ${id}`,
  ),
  DefaultStorageChanged: event({ storage_id: entityId.nullable() }, ({ storage_id }, id) =>
    storage_id === null
      ? `left project ${id} without a default storage`
      : `made storage ${storage_id} the default of project ${id}`,
  ),
});

export type ProjectEvent = EventIn<typeof projectEvents>;
export const { category: projectCategory, codec: projectCodec } = projectEvents;
