import type { InvitationEntry, OfferEntry, ProjectFields } from './fold.js';

/** An offer, and an invitation of an owner, ends 30 days after it was made, in ms (src/areas/projects/README.md#offers). */
export const offerLifetimeMs = 30 * 86_400_000;

/** Returns the offer that would make a member owner, also an expired one. */
export function ownershipOfferTo(
  { offers }: Pick<ProjectFields, 'offers'>,
  userId: string,
): OfferEntry | null {
  return offers.find(({ kind, user_id }) => kind !== 'payer' && user_id === userId) ?? null;
}

/** Returns the offer that would change the payer, also an expired one. There is one at most. */
export function billingOffer({ offers }: Pick<ProjectFields, 'offers'>): OfferEntry | null {
  return offers.find(({ kind }) => kind !== 'owner') ?? null;
}

/** Returns when an invitation ends by itself; null: never. Only that of an owner does, because it waits for consent. */
export function invitationExpiry({ role, role_at }: InvitationEntry): Date | null {
  return role === 'owner' ? new Date(new Date(role_at).getTime() + offerLifetimeMs) : null;
}

/** Returns the project without the offers and invitations that have expired. They stay stored until a change ends them. */
export function openAt<Project extends Pick<ProjectFields, 'offers' | 'invitations'>>(
  project: Project,
  now: Date,
): Project {
  return {
    ...project,
    offers: project.offers.filter((offer) => !isOfferOver(offer, now)),
    invitations: project.invitations.filter((invitation) => !isInvitationOver(invitation, now)),
  };
}

export function isOfferOver({ expires_at }: OfferEntry, now: Date): boolean {
  return new Date(expires_at) <= now;
}

export function isInvitationOver(invitation: InvitationEntry, now: Date): boolean {
  const expiry = invitationExpiry(invitation);
  return expiry !== null && expiry <= now;
}
