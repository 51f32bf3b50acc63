import { assetsProjection } from '../../../projections/assets/assets/projection.js';
import { projectsProjection } from '../../../projections/projects/projects/projection.js';
import { sessionsProjection } from '../../../projections/accounts/sessions/projection.js';
import { sharesProjection } from '../../../projections/shares/shares/projection.js';
import { storageConfigsProjection } from '../../../projections/storages/storage-configs/projection.js';
import { makeAbortUploads } from '../../areas/assets/commands/uploads/end-upload.js';
import { makeCheckUploads } from '../../areas/assets/commands/uploads/confirm-upload.js';
import { makeDeleteAssetObjects } from '../../areas/assets/commands/delete-objects.js';
import {
  acceptNewInvitations,
  acceptOpenInvitations,
  mailInvitations,
} from '../../areas/projects/commands/invitations.js';
import { purgeUnprovedAccounts, warnUnprovedAccounts } from '../../areas/accounts/commands/email/unproved.js';
import { makeShareEndings } from '../../areas/shares/commands/ending.js';
import { makeForgetShareMails, makeMailShareLinks } from '../../areas/shares/commands/mails/mail-share.js';
import { makeChooseFirstDefaultReaction } from '../../areas/storages/commands/choose-first-default.js';
import {
  makeDeleteLateStorages,
  makeDeleteProjectStorages,
  makeEraseStorageCredentials,
} from '../../areas/storages/commands/deleting.js';
import { makeProbeStorages } from '../../areas/storages/commands/probing.js';
import { endGivenAccesses, finishErasures } from '../../areas/accounts/commands/erasing.js';
import {
  finishEmailChanges,
  mailAddressChanges,
  releaseLeftAddresses,
} from '../../areas/accounts/commands/email/email-change.js';
import type { Projection } from '../../event-sourcing/views/projection.js';
import type { Position } from '../../event-sourcing/ports/domain-event.js';
import type { AnyReaction } from '../../event-sourcing/effects/reaction.js';
import type { ProjectionRunner } from '../../event-sourcing/feeding/projectors/projection-runner.js';
import type { Services } from '../services.js';
import { endsProcess } from '../../event-sourcing/ports/errors.js';
import { type ReactionRunner, startReactions } from '../../event-sourcing/effects/reaction-runner.js';
import { sentenceOf } from '../starting.js';
import { makeMailedCodes } from '../../keys/codes/login-codes.js';
import { mailEmailVerifications } from '../../areas/accounts/commands/email/email-verification.js';
import { mailMemberNotices } from '../../areas/projects/commands/member-messages.js';
import { mailLoginCodes } from '../../areas/accounts/commands/signing-in/login-codes.js';
import { mailSecurityNotices } from '../../areas/accounts/commands/security-notices.js';
import {
  makeMailShareGuessing,
  makeMailShareOpening,
  makeRequestOpeningNotices,
} from '../../areas/shares/commands/mails/mail-sharer.js';

/** Makes the reactions that send mail. It makes none without `SMTP_URL`, because then no command requests mail. */
function makeMailReactions(services: Services): readonly AnyReaction[] {
  const { config, readers, keyRings, mails } = services;
  if (mails === null) return [];
  const deps = {
    ...services,
    ...readers,
    mails,
    publicUrl: config.publicUrl,
    ...makeMailedCodes(keyRings.code),
  };
  return [
    mailEmailVerifications(deps),
    mailLoginCodes(deps),
    mailAddressChanges(deps),
    mailInvitations(deps),
    mailMemberNotices(deps),
    mailSecurityNotices(deps),
    makeMailShareGuessing(deps),
    makeRequestOpeningNotices(deps),
    makeMailShareOpening(deps),
    makeMailShareLinks({ ...deps, ...services.commands }),
    ...(config.unprovedAccountDays === 0
      ? []
      : [warnUnprovedAccounts({ ...deps, ...services.commands, ...config })]),
  ];
}

/** @param fail receives the error of a store that is damaged or belongs to another service; the process should end */
export function bringUpReactions(
  services: Services,
  runner: Pick<ProjectionRunner, 'shows'>,
  fail: (error: unknown) => void,
): ReactionRunner {
  const { logger } = services.log;
  const { stateStore } = services.stores;
  const { feeder: lease } = services.leases;
  const deps = { ...services, stateStore, lease, holder: services.leases.feeder.id };
  return startReactions(deps, makeReactions(services, runner), {
    onRetry: (reaction, error, failures) => {
      services.noteRetry('a reaction failed; trying again', error, { reaction, failures });
    },
    onQuarantined: (reaction, { event, reason }) => {
      logger.error({ reaction, ...event, error: reason }, 'a reaction has quarantined an event');
    },
    onStopped: (reaction, error) => {
      logger.error({ reaction, error: sentenceOf(error) }, 'a reaction stopped');
      // Too many events that cannot be read stop only their reaction.
      if (endsProcess(error)) fail(error);
    },
  });
}

/** @param runner the running views; a reaction that reads a view waits until the view has the event */
export function makeReactions(
  services: Services,
  runner: Pick<ProjectionRunner, 'shows'>,
): readonly AnyReaction[] {
  const { commands, readers, clock } = services;
  const caughtUp =
    (...views: readonly Projection[]) =>
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
