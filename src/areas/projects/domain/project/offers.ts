import type { Decisions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { OfferKind, ProjectEvent } from './events.js';
import { memberNotFound, rejectProject } from './rejections.js';
import {
  billingOffer,
  isOfferOver,
  isInvitationOver,
  offerLifetimeMs,
  openAt,
  ownershipOfferTo,
} from './open-offers.js';
import { type ExistingProject, roleIn } from './fold.js';

export type OfferCommand =
  /**
   * An owner offers the billing to another member, who becomes an owner too, or takes it. An offer to another member replaces an
   * open one.
   */
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

export const offerDecisions: Decisions<OfferCommand, ExistingProject, ProjectEvent> = {
  OfferBilling: ({ actorId, userId, offerId, now }, project) => {
    if (roleIn(project, actorId) !== 'owner') rejectProject('insufficient_role', 'this needs the role owner');
    const held = roleIn(project, userId);
    if (held === null) memberNotFound();
    if (userId === project.billed_to) return withdrawnBilling(project);
    if (userId === actorId) return [{ type: 'BillingChanged', data: { user_id: userId } }];
    if (billingOffer(openAt(project, now))?.user_id === userId) return [];
    const ownership = ownershipOfferTo(project, userId);
    return [
      ...withdrawnBilling(project),
      ...(ownership?.kind === 'owner' ? [endOffer(ownership.id, 'withdrawn')] : []),
      offerMade(held === 'owner' ? 'payer' : 'both', { actorId, userId, offerId, now }),
    ];
  },
  WithdrawBillingOffer: (_, project) => withdrawnBilling(project),
  AnswerOffer: ({ userId, offerId, accepts, now }, project) => {
    const offer = openAt(project, now).offers.find(({ id }) => id === offerId);
    if (offer?.user_id !== userId)
      return rejectProject('offer_not_found', 'there is no such offer, or it has ended');
    if (!accepts) return [endOffer(offerId, 'declined')];
    // The role first: a payer is an owner.
    const role = { type: 'MemberRoleChanged', data: { user_id: userId, role: 'owner' } } as const;
    const billing = { type: 'BillingChanged', data: { user_id: userId } } as const;
    return { owner: [role], payer: [billing], both: [role, billing] }[offer.kind];
  },
};

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
  return [offerMade('owner', { actorId, userId: memberId, offerId, now })];
}

function offerMade(
  kind: OfferKind,
  input: { readonly actorId: string; readonly userId: string; readonly offerId: string; readonly now: Date },
): ProjectEvent {
  const { actorId, userId, offerId, now } = input;
  const expires_at = new Date(now.getTime() + offerLifetimeMs).toISOString();
  const data = { offer_id: offerId, kind, user_id: userId, offered_by: actorId, expires_at };
  return { type: 'OfferMade', data };
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

type WithdrawalReason = NonNullable<Extract<ProjectEvent, { type: 'InvitationWithdrawn' }>['data']['reason']>;

export function withdrawal({ id }: { readonly id: string }, reason?: WithdrawalReason): ProjectEvent {
  const data = { invitation_id: id, ...(reason === undefined ? {} : { reason }) };
  return { type: 'InvitationWithdrawn', data };
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
      .map((invitation) => withdrawal(invitation, 'expired')),
  ];
}
