import { projectsProjection } from '../../projections/projects/projection.js';
import { sessionsProjection } from '../../projections/sessions/projection.js';
import { sharesProjection } from '../../projections/shares/projection.js';
import { storageConfigsProjection } from '../../projections/storage-configs/projection.js';
import { makeExpireOrders } from '../commands/orders/expire-order-reaction.js';
import { makeFulfilOrders } from '../commands/orders/fulfil-order-reaction.js';
import {
  makeAcceptNewInvitations,
  makeAcceptOpenInvitations,
} from '../commands/projects/accept-invitation-reactions.js';
import { makeForgetInvitationsReaction } from '../commands/projects/forget-invitations-reaction.js';
import { makeEraseShareKeys } from '../commands/shares/destroy-share-key-reaction.js';
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

    // Shares
    makeRecordShareAccesses({ ...commands, clock }),
    makeEraseShareKeys({ ...commands, sharesShown }),
    makeRevokeProjectShares({ ...commands, sharesShown }),
    makeRevokeAssetShares({ ...commands, sharesShown }),
    makeRevokeLateShares(commands),

    // Orders
    makeExpireOrders(services),
    makeSettlePayments(commands),
    makeFulfilOrders(commands),
  ];
}
