import type { ProjectEvent } from './events.js';
import { rejectProject } from './rejections.js';
import type { ExistingProject } from './state.js';
import {
  billingOffer,
  isOfferOver,
  isInvitationOver,
  offerLifetimeMs,
  openAt,
  ownershipOfferTo,
} from './open-offers.js';
import { roleIn } from './status.js';

export type OfferCommand =
  /** An owner offers the billing to another owner, or takes it. An offer to another owner replaces an open one. */
  | {
      readonly type: 'OfferBilling';
      readonly actorId: string;
      readonly userId: string;
      readonly offerId: string;
      readonly now: Date;
    }
  | { readonly type: 'WithdrawBillingOffer' }
  /** The receiver accepts or declines. */
  | {
      readonly type: 'AnswerOffer';
      readonly userId: string;
      readonly offerId: string;
      readonly accepts: boolean;
      readonly now: Date;
    };

export function decideOffers(command: OfferCommand, project: ExistingProject): readonly ProjectEvent[] {
  switch (command.type) {
    case 'OfferBilling':
      return offerBilling(command, project);
    case 'WithdrawBillingOffer':
      return withdrawnBilling(project);
    case 'AnswerOffer':
      return answer(command, project);
  }
}

function offerBilling(
  { actorId, userId, offerId, now }: Extract<OfferCommand, { type: 'OfferBilling' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  if (roleIn(project, actorId) !== 'owner') rejectProject('insufficient_role', 'this needs the role owner');
  const held = roleIn(project, userId);
  if (held === null) rejectProject('member_not_found', 'there is no such member');
  if (held !== 'owner')
    rejectProject('payer_not_owner', 'only an owner can pay; make the member owner first');
  if (userId === project.billed_to) return withdrawnBilling(project);
  if (userId === actorId) return [{ type: 'BillingChanged', data: { user_id: userId } }];
  const open = billingOffer(openAt(project, now));
  if (open?.user_id === userId) return [];
  return [
    ...withdrawnBilling(project),
    { type: 'BillingOffered', data: newOffer(offerId, userId, actorId, now) },
  ];
}

/** Decides nothing when the offer is open already. */
export function offerOwnership(
  {
    actorId,
    memberId,
    offerId,
    now,
  }: { readonly actorId: string; readonly memberId: string; readonly offerId: string; readonly now: Date },
  project: ExistingProject,
): readonly ProjectEvent[] {
  if (ownershipOfferTo(project, memberId) !== null) return [];
  return [{ type: 'OwnershipOffered', data: newOffer(offerId, memberId, actorId, now) }];
}

function answer(
  { userId, offerId, accepts, now }: Extract<OfferCommand, { type: 'AnswerOffer' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const offer = openAt(project, now).offers.find(({ id }) => id === offerId);
  if (offer?.user_id !== userId) {
    return rejectProject('offer_not_found', 'there is no such offer, or it has ended');
  }
  if (!accepts) return [endOffer(offerId, 'declined')];
  return offer.kind === 'billing'
    ? [{ type: 'BillingChanged', data: { user_id: userId } }]
    : [{ type: 'MemberRoleChanged', data: { user_id: userId, role: 'owner' } }];
}

function newOffer(offerId: string, userId: string, actorId: string, now: Date) {
  const expires_at = new Date(now.getTime() + offerLifetimeMs).toISOString();
  return { offer_id: offerId, user_id: userId, offered_by: actorId, expires_at };
}

function withdrawnBilling(project: ExistingProject): readonly ProjectEvent[] {
  const offer = billingOffer(project);
  return offer === null ? [] : [endOffer(offer.id, 'withdrawn')];
}

export function endOffer(
  offerId: string,
  reason: Extract<ProjectEvent, { type: 'OfferEnded' }>['data']['reason'],
): ProjectEvent {
  return { type: 'OfferEnded', data: { offer_id: offerId, reason } };
}

/** Decides without the invitations and offers that have expired, and ends them in the same append. */
export function afterExpiry<Command extends { readonly now: Date }>(
  command: Command,
  project: ExistingProject,
  decide: (command: Command, open: ExistingProject) => readonly ProjectEvent[],
): readonly ProjectEvent[] {
  const events = decide(command, openAt(project, command.now));
  return events.length === 0 ? [] : [...expiredAt(project, command.now), ...events];
}

/** Returns the events that end what has expired. */
function expiredAt({ offers, invitations }: ExistingProject, now: Date): readonly ProjectEvent[] {
  return [
    ...offers.filter((offer) => isOfferOver(offer, now)).map(({ id }) => endOffer(id, 'expired')),
    ...invitations
      .filter((invitation) => isInvitationOver(invitation, now))
      .map(({ id }): ProjectEvent => {
        return { type: 'InvitationWithdrawn', data: { invitation_id: id, reason: 'expired' } };
      }),
  ];
}
