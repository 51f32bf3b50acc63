import { assetsProjection } from '../../projections/assets/projection.js';
import { projectsProjection } from '../../projections/projects/projection.js';
import { sessionsProjection } from '../../projections/sessions/projection.js';
import { sharesProjection } from '../../projections/shares/projection.js';
import { storageConfigsProjection } from '../../projections/storage-configs/projection.js';
import { makeAbortUploads } from '../commands/assets/abort-upload-reaction.js';
import { makeCheckUploads } from '../commands/assets/check-upload-reaction.js';
import { makeDeleteAssetObjects } from '../commands/assets/delete-objects-reaction.js';
import { makeCaptureApprovedPayments } from '../commands/orders/capture-payment-reaction.js';
import { makeExpireOrders } from '../commands/orders/expire-order-reaction.js';
import {
  makeCheckCapacityGrants,
  makeCheckEntitlementGrants,
  makeFulfilOrders,
} from '../commands/orders/fulfil-order-reaction.js';
import {
  makeAcceptNewInvitations,
  makeAcceptOpenInvitations,
} from '../commands/projects/accept-invitation-reactions.js';
import { makePurgeUnprovedAccounts } from '../commands/accounts/purge-unproved-reaction.js';
import { makeForgetInvitationsReaction } from '../commands/projects/forget-invitations-reaction.js';
import { makeEraseShareKeys } from '../commands/shares/destroy-share-key-reaction.js';
import { makeForgetShareMails } from '../commands/shares/forget-share-mail-reaction.js';
import {
  makeRevokeAssetShares,
  makeRevokeLateShares,
  makeRevokeProjectShares,
} from '../commands/shares/revoke-orphaned-shares-reaction.js';
import { makeChooseFirstDefaultReaction } from '../commands/storages/choose-first-default-reaction.js';
import {
  makeDeleteLateStorages,
  makeDeleteProjectStorages,
} from '../commands/storages/delete-orphaned-storages-reaction.js';
import { makeProbeStorages } from '../commands/storages/probe-storage-reaction.js';
import { makeEndGivenAccesses } from '../reactions/end-given-access.js';
import { makeEraseStorageCredentials } from '../reactions/erase-storage-credentials.js';
import { makeFinishEmailChanges, makeReleaseFormerAddresses } from '../reactions/finish-email-change.js';
import { makeFinishErasures } from '../reactions/finish-erasure.js';
import { makeRecordShareAccesses } from '../reactions/record-share-accesses.js';
import { makeRemoveErasedMembers } from '../reactions/remove-erased-members.js';
import { makeSettlePayments } from '../reactions/settle-payments.js';
import type { AnyProjection } from '../event-sourcing/views/projection.js';
import type { Position } from '../event-sourcing/ports/domain-event.js';
import type { AnyReaction } from '../event-sourcing/reacting/reaction.js';
import type { ProjectionRunner } from '../event-sourcing/views/projection-runner.js';
import { makeMailReactions } from './mail-reactions.js';
import type { Services } from './services.js';

/** @param runner the running views; a reaction that reads a view waits until the view has the event */
export function makeReactions(
  services: Services,
  runner: Pick<ProjectionRunner, 'shows'>,
): readonly AnyReaction[] {
  const { commands, readers, clock } = services;
  const caughtUp =
    (...views: readonly AnyProjection[]) =>
    (position: Position): boolean =>
      views.every((view) => runner.shows(view, position));
  const sharesShown = caughtUp(sharesProjection);
  return [
    ...makeMailReactions(services),

    // Accounts
    makeFinishEmailChanges(commands),
    makeReleaseFormerAddresses({ ...commands, clock }),
    makeEndGivenAccesses({ ...commands, projectsShowUpTo: caughtUp(projectsProjection) }),
    ...purgeReactions(services),
    makeFinishErasures({ ...commands, viewsShow: caughtUp(sessionsProjection, projectsProjection) }),

    // Projects
    makeAcceptNewInvitations(commands),
    makeAcceptOpenInvitations({ ...commands, ...readers, projectsShowUpTo: caughtUp(projectsProjection) }),
    makeForgetInvitationsReaction(commands),
    makeRemoveErasedMembers(commands),

    // Storages
    makeProbeStorages({ ...commands, clock }),
    makeChooseFirstDefaultReaction(commands),
    makeEraseStorageCredentials(commands),
    makeDeleteLateStorages(commands),
    makeDeleteProjectStorages({ ...commands, storagesShown: caughtUp(storageConfigsProjection) }),

    // Assets
    makeCheckUploads({ ...services, ...commands }),
    makeAbortUploads({ ...services, ...commands }),
    makeDeleteAssetObjects({
      ...services,
      ...commands,
      viewsShow: caughtUp(storageConfigsProjection, assetsProjection),
    }),

    // Shares
    makeRecordShareAccesses({ ...commands, clock }),
    makeEraseShareKeys({ ...commands, sharesShown }),
    makeRevokeProjectShares({ ...commands, sharesShown }),
    makeRevokeAssetShares({ ...commands, sharesShown }),
    makeRevokeLateShares(commands),
    makeForgetShareMails(services),

    // Orders
    makeExpireOrders(services),
    ...makeSettlePayments(commands),
    makeCaptureApprovedPayments(commands),
    makeFulfilOrders(commands),
    makeFulfilOrders(commands, 'fulfil-paid-orders'),
    makeCheckCapacityGrants(commands),
    makeCheckEntitlementGrants(commands),
  ];
}

/** Without mail no person can prove an address, so no account is purged: docs/design.md#unproved-accounts. */
function purgeReactions(services: Services): readonly AnyReaction[] {
  const { mailConfigured, unprovedAccountDays } = services.config;
  if (!mailConfigured || unprovedAccountDays === 0) return [];
  return [makePurgeUnprovedAccounts({ ...services, ...services.commands, unprovedAccountDays })];
}
