// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import { entityId, grantSource, hexDigest, instant, mailOutcome } from '../../../../validation/fields.js';
import { role } from '../role.js';
import { scope } from '../scope.js';

/** Streams `project-<project id>`. */
export const projectCategory = 'project';

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

const schemas = {
  /** The owner is the first member. */
  ProjectCreated: z.strictObject({ name: z.string().min(1), owner_id: entityId }),
  ProjectRenamed: z.strictObject({ name: z.string().min(1) }),
  TwoFactorRequirementChanged: z.strictObject({ require_2fa: z.boolean() }),
  /** For pages that visitors see. */
  AccentColorChanged: z.strictObject({ accent_color: accentColor.nullable() }),
  /** Whether editors may make shares that open without a password. */
  OpenSharesChanged: z.strictObject({ open_shares: z.boolean() }),
  ProjectDeleted: z.strictObject({}),

  /** Membership begins when an account verifies the address. */
  MemberInvited: z.strictObject({
    invitation_id: entityId,
    /** Sealed for the invitation, whose key is destroyed when the invitation ends. */
    email: sealedSchema,
    email_digest: hexDigest,
    role,
    invited_by: entityId,
  }),
  InvitationMailed: z.strictObject({ invitation_id: entityId, outcome: mailOutcome }),
  /** `changed_by`: the member who answers for the invitation from now on. */
  InvitationRoleChanged: z.strictObject({
    invitation_id: entityId,
    role,
    changed_by: entityId,
  }),
  /** Without a reason: a member took it back, or the address belongs to a member already. */
  InvitationWithdrawn: z.strictObject({
    invitation_id: entityId,
    /** `inviter_lost_right`: who invited may not give this role any more. */
    reason: z.enum(['declined', 'expired', 'inviter_lost_right']).exactOptional(),
  }),
  /** `invitation_id`: the invitation that this ends; null if there was none. */
  MemberAdded: z.strictObject({
    user_id: entityId,
    role,
    invitation_id: entityId.nullable(),
    given_by: givenBy,
  }),
  MemberRoleChanged: z.strictObject({ user_id: entityId, role, given_by: givenBy }),
  /** `erased`: the account of the member was erased. */
  MemberRemoved: z.strictObject({ user_id: entityId, erased: z.literal(true).exactOptional() }),

  /** They accept by MemberRoleChanged, by BillingChanged, or by both. */
  OfferMade: z.strictObject({
    offer_id: entityId,
    kind: offerKind,
    user_id: entityId,
    offered_by: entityId,
    expires_at: instant,
  }),
  /** The offer was not accepted. An offer also ends when a role changes: see `ProjectFields.offers`. */
  OfferEnded: z.strictObject({ offer_id: entityId, reason: z.enum(['withdrawn', 'declined', 'expired']) }),
  /** The assets use the capacity of this user from now on. */
  BillingChanged: z.strictObject({ user_id: entityId }),

  /** One grant per source. The project is entitled while one source grants. */
  EntitlementGranted: z.strictObject({ entitlement, source: grantSource }),
  EntitlementRevoked: z.strictObject({ entitlement, source: grantSource }),

  ApiKeyIssued: z.strictObject({
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
  }),
  ApiKeyRevoked: z.strictObject({ key_id: entityId }),

  DefaultStorageChanged: z.strictObject({ storage_id: entityId.nullable() }),
};

export type ProjectEvent = EventOf<typeof schemas>;
export const projectCodec = makeEventCodec(schemas);
