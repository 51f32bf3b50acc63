import test from 'ava';
import { makeReactions } from '../../../src/composition/tasks/make-reactions.js';
import { openServices } from '../../../src/composition/services.js';
import { readConfig } from '../../../src/config/config.js';
import { makeDataDirectory } from '../../support/servers/service-process.js';

/**
 * The types of each reaction, by its name. A release that adds a type gives the reaction a name that was never used
 * (src/event-sourcing/effects/README.md#checkpoints), so an entry may lose a type, and never gets one.
 */
const expected: Readonly<Record<string, readonly string[]>> = {
  'mail-email-verifications': ['EmailVerificationRequested'],
  'mail-login-codes': ['LoginCodeIssued'],
  'mail-address-changes': ['EmailChangeRequested'],
  'mail-invitations': ['MemberInvited'],
  'mail-member-notices': ['MemberAdded', 'MemberRoleChanged', 'OfferMade'],
  'mail-account-notices': [
    'PasswordChanged',
    'EmailChanged',
    'EmailChangeReverted',
    'TotpConfirmed',
    'TotpRemoved',
    'CredentialsVoided',
    'RecoveryCodeUsed',
    'RecoveryCodesIssued',
    'GuessingLimitReached',
    'PasskeyRegistered',
    'PasskeyRemoved',
    'PasskeyCounterRegressed',
  ],
  'mail-share-guessing': ['ShareGuessingLimitReached'],
  'request-opening-notices': ['ShareVerified'],
  'mail-first-openings': ['SecurityNoticeRequested'],
  'mail-share-links': ['ShareMailRequested'],
  'finish-email-change': ['EmailReserved'],
  'release-left-addresses': ['EmailChanged', 'EmailChangeReverted'],
  'end-given-access': ['CredentialsVoided', 'UserBanned'],
  'purge-unproved-accounts': ['UnprovedWarned'],
  'warn-unproved-accounts': ['EmailVerificationMailed', 'UnprovedWarned'],
  'finish-erasure': ['UserErased'],
  'accept-new-invitations': ['MemberInvited', 'InvitationRoleChanged'],
  'accept-open-invitations': ['EmailVerified', 'EmailChanged', 'EmailChangeReverted'],
  'forget-invitations': ['MemberAdded', 'InvitationWithdrawn', 'ProjectDeleted'],
  'remove-erased-members': ['ProjectCreated', 'MemberAdded'],
  'probe-storages': ['StorageTestStarted'],
  'check-uploads': ['AssetUploadExpected'],
  'delete-objects': ['AssetDeletionRequested', 'AssetDeletionPutOff'],
  'abort-uploads': ['AssetMultipartStarted', 'AssetMultipartAbortPutOff'],
  'choose-first-default': ['StorageTestSucceeded'],
  'erase-storage-credentials': ['StorageDeleted'],
  'delete-late-storages': ['StorageCreated'],
  'delete-project-storages': ['ProjectDeleted'],
  'record-share-accesses': ['ShareUsed'],
  'erase-share-keys': ['ShareRevoked'],
  'revoke-project-shares': ['ProjectDeleted'],
  'revoke-asset-shares': ['AssetRemoved'],
  'revoke-late-shares': ['ShareCreated'],
  'forget-share-mails': ['ShareMailRequested', 'ShareMailed'],
  'expire-waiting-orders': ['OrderPlaced', 'PaymentPending'],
  'ask-for-refunds': ['RefundAsked'],
  'capture-approved-payments': ['PaymentApproved'],
  'apply-payment-reports': ['PaymentReported', 'PaymentReportResolved'],
  'fulfil-orders': ['PaymentCaptured', 'RefundReported', 'DisputeClosed', 'ReviewResolved'],
  'check-capacity-grants': ['CapacityGranted', 'CapacityRevoked'],
  'check-entitlement-grants': ['EntitlementGranted', 'EntitlementRevoked'],
};

test('A reaction of other types has another name, so it reads the events that its checkpoint would have passed', async (t) => {
  const directory = await makeDataDirectory();
  const settings = { DATA_DIR: directory.path, LOG_LEVEL: 'silent', SMTP_URL: 'smtp://127.0.0.1:1' };
  const services = await openServices(readConfig(settings));
  t.teardown(async () => {
    await services.close();
    await directory.remove();
  });
  const reactions = makeReactions(services, { shows: () => true });
  t.deepEqual(
    Object.fromEntries(reactions.map(({ name, types }) => [name, [...types].sort()])),
    Object.fromEntries(Object.entries(expected).map(([name, types]) => [name, [...types].sort()])),
  );
});
