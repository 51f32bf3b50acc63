import { assetsProjection } from '../../../projections/assets/assets/projection.js';
import { projectsProjection } from '../../../projections/projects/projects/projection.js';
import { sessionsProjection } from '../../../projections/accounts/sessions/projection.js';
import { sharesProjection } from '../../../projections/shares/shares/projection.js';
import { storageConfigsProjection } from '../../../projections/storages/storage-configs/projection.js';
import { makeAbortUploads } from '../../areas/assets/commands/uploads/abort-upload-reaction.js';
import { makeCheckUploads } from '../../areas/assets/commands/uploads/check-upload-reaction.js';
import { makeDeleteAssetObjects } from '../../areas/assets/commands/delete-objects-reaction.js';
import { acceptNewInvitations, acceptOpenInvitations } from '../../areas/projects/commands/invitations.js';
import { purgeUnprovedAccounts } from '../../areas/accounts/commands/unproved.js';
import { makeShareEndings } from '../../areas/shares/commands/ending.js';
import { makeForgetShareMails } from '../../areas/shares/commands/mails/forget-share-mail-reaction.js';
import { makeChooseFirstDefaultReaction } from '../../areas/storages/commands/defaults/choose-first-default-reaction.js';
import {
  makeDeleteLateStorages,
  makeDeleteProjectStorages,
} from '../../areas/storages/commands/deleting/delete-orphaned-storages-reaction.js';
import { makeProbeStorages } from '../../areas/storages/commands/probing/probe-storage-reaction.js';
import { endGivenAccesses } from '../../areas/accounts/commands/erasing.js';
import { makeEraseStorageCredentials } from '../../areas/storages/commands/deleting/erase-storage-credentials-reaction.js';
import { finishEmailChanges, releaseLeftAddresses } from '../../areas/accounts/commands/email-change.js';
import { finishErasures } from '../../areas/accounts/commands/erasing.js';
import type { AnyProjection } from '../../event-sourcing/views/projection.js';
import type { Position } from '../../event-sourcing/ports/domain-event.js';
import type { AnyReaction } from '../../event-sourcing/effects/reaction.js';
import type { ProjectionRunner } from '../../event-sourcing/feeding/projectors/projection-runner.js';
import { makeMailReactions } from './mail-reactions.js';
import type { Services } from '../services.js';

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
  return [
    ...makeMailReactions(services),

    // Accounts
    finishEmailChanges(commands),
    releaseLeftAddresses({ ...commands, clock }),
    endGivenAccesses({ ...commands, projectsShowUpTo: caughtUp(projectsProjection) }),
    ...purgeReactions(services),
    finishErasures({ ...commands, viewsShow: caughtUp(sessionsProjection, projectsProjection) }),

    // Projects
    acceptNewInvitations(commands),
    acceptOpenInvitations({ ...commands, ...readers, projectsShowUpTo: caughtUp(projectsProjection) }),
    commands.forgetEndedInvitations,
    commands.removeErasedMembers,

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
    commands.recordCountedAccesses,
    ...Object.values(makeShareEndings({ ...services, ...readers, sharesShown: caughtUp(sharesProjection) })),
    makeForgetShareMails(services),

    // Orders
    ...Object.values(commands.paymentReactions),
  ];
}

/** Without mail no person can prove an address, so no account is purged: src/areas/accounts/README.md#unproved-accounts. */
function purgeReactions(services: Services): readonly AnyReaction[] {
  const { mailConfigured, unprovedAccountDays } = services.config;
  if (!mailConfigured || unprovedAccountDays === 0) return [];
  return [purgeUnprovedAccounts({ ...services, ...services.commands, unprovedAccountDays })];
}
