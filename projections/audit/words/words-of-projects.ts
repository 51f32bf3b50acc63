import type { ProjectEvent } from '../../../src/areas/projects/domain/project/events.js';
import { inQuotes, outcomeInWords, type Phrases, sourceInWords } from './phrases.js';

const withdrawals = {
  declined: 'the person declined it',
  expired: 'it expired',
  inviter_lost_right: 'the member who invited may not give the role any more',
} as const;

const offered = {
  owner: 'the ownership of',
  payer: 'to pay for',
  both: 'to own and to pay for',
} as const;

const offerEndings = {
  withdrawn: 'it was withdrawn',
  declined: 'it was declined',
  expired: 'it expired',
} as const;

/** The events of a project. */
export const projectWords: Phrases<ProjectEvent> = {
  ProjectCreated: ({ name, owner_id }, id) =>
    `created project ${id} with the name ${inQuotes(name)} and the owner ${owner_id}`,
  ProjectRenamed: ({ name }, id) => `renamed project ${id} to ${inQuotes(name)}`,
  TwoFactorRequirementChanged: ({ require_2fa }, id) =>
    require_2fa
      ? `made two-factor authentication a requirement of project ${id}`
      : `removed the requirement of two-factor authentication from project ${id}`,
  AccentColorChanged: ({ accent_color }, id) =>
    accent_color === null
      ? `removed the accent colour of project ${id}`
      : `changed the accent colour of project ${id} to ${accent_color}`,
  OpenSharesChanged: ({ open_shares }, id) =>
    open_shares
      ? `allowed shares without a password in project ${id}`
      : `forbade shares without a password in project ${id}`,
  ProjectDeleted: (_, id) => `deleted project ${id}`,

  MemberInvited: ({ invitation_id, role, invited_by }, id) =>
    `invited a person to project ${id} as ${role} (invitation ${invitation_id}, by user ${invited_by}); the address is sealed`,
  InvitationMailed: ({ invitation_id, outcome }, id) =>
    `mailed invitation ${invitation_id} of project ${id}; ${outcomeInWords(outcome)}`,
  InvitationRoleChanged: ({ invitation_id, role, changed_by }, id) =>
    `changed the role of invitation ${invitation_id} of project ${id} to ${role}, for user ${changed_by}`,
  InvitationWithdrawn: ({ invitation_id, reason }, id) =>
    `ended invitation ${invitation_id} of project ${id}` +
    (reason === undefined ? '' : `: ${withdrawals[reason]}`),
  MemberAdded: ({ user_id, role, invitation_id, given_by }, id) =>
    `made user ${user_id} a member of project ${id} as ${role}` +
    (invitation_id === null ? '' : ` (invitation ${invitation_id})`) +
    (given_by === undefined ? '' : `; user ${given_by} gave the role`),
  MemberRoleChanged: ({ user_id, role, given_by }, id) =>
    `changed the role of user ${user_id} in project ${id} to ${role}` +
    (given_by === undefined ? '' : `; user ${given_by} gave the role`),
  MemberRemoved: ({ user_id, erased }, id) =>
    `removed user ${user_id} from project ${id}` +
    (erased === undefined ? '' : ', because the account was erased'),

  OfferMade: ({ offer_id, kind, user_id, offered_by, expires_at }, id) =>
    `offered user ${user_id} ${offered[kind]} project ${id} (offer ${offer_id}, by user ${offered_by}, until ${expires_at})`,
  OfferEnded: ({ offer_id, reason }, id) =>
    `ended offer ${offer_id} of project ${id}: ${offerEndings[reason]}`,
  BillingChanged: ({ user_id }, id) => `made user ${user_id} the payer of project ${id}`,

  EntitlementGranted: ({ entitlement, source }, id) =>
    `gave project ${id} the entitlement ${entitlement} ${sourceInWords(source)}`,
  EntitlementRevoked: ({ entitlement, source }, id) =>
    `took from project ${id} the entitlement ${entitlement} that was given ${sourceInWords(source)}`,

  ApiKeyIssued: ({ key_id, name, scopes, expires_at, issued_by }, id) =>
    `issued API key ${key_id} of project ${id} with the name ${inQuotes(name)} and the scopes ${scopes.join(', ')}, ` +
    `until ${expires_at}, for user ${issued_by}`,
  ApiKeyRevoked: ({ key_id }, id) => `revoked API key ${key_id} of project ${id}`,

  DefaultStorageChanged: ({ storage_id }, id) =>
    storage_id === null
      ? `left project ${id} without a default storage`
      : `made storage ${storage_id} the default of project ${id}`,
};
