import type { DomainEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import { assetCodec } from '../../../src/areas/assets/domain/asset/events.js';
import { auditLogCodec } from '../../../src/areas/audit/domain/audit-log/events.js';
import { checkoutCodec } from '../../../src/areas/payments/domain/checkout/events.js';
import { emailCodec } from '../../../src/areas/accounts/domain/email/events.js';
import { loginCodeCodec } from '../../../src/areas/accounts/domain/login-code/events.js';
import { nodeCodec } from '../../../src/areas/nodes/domain/node/events.js';
import { orderCodec } from '../../../src/areas/payments/domain/order/events.js';
import { projectCodec } from '../../../src/areas/projects/domain/project/events.js';
import { securityNoticeCodec } from '../../../src/areas/accounts/domain/security-notice/events.js';
import { sessionCodec } from '../../../src/areas/accounts/domain/session/events.js';
import { shareAccessCodec } from '../../../src/areas/shares/domain/share-access/events.js';
import { shareMailCodec } from '../../../src/areas/shares/domain/share-mail/events.js';
import { shareCodec } from '../../../src/areas/shares/domain/share/events.js';
import { storageCodec } from '../../../src/areas/storages/domain/storage/events.js';
import { transactionCodec } from '../../../src/areas/payments/domain/transaction/events.js';
import { userCodec } from '../../../src/areas/accounts/domain/user/events.js';
import { examplesOf } from './event.js';
import {
  accessId,
  assetId,
  change_id,
  digest,
  orderId,
  otherDigest,
  otherTestId,
  otherUserId,
  projectId,
  sessionId,
  shareId,
  storageId,
  testId,
  userId,
} from './ids.js';
import { description, nodeModeChanged, nodeStatusChanged } from './node.js';
import { sealedExample } from './sealed.js';
import { createdTerms } from './share.js';

const email = sealedExample('canary@example.com');
const secret = sealedExample('canary secret');
const until = '2026-03-01T00:00:00.000Z';
const at = '2026-01-05T00:00:00.000Z';
const outcome = 'accepted';
const expiring = { code_key_id: 'c1', expires_at: until };

const user = examplesOf(userCodec, {
  UserRegistered: { email, email_digest: digest, nickname: secret, password_hash: secret },
  RegistrationAbandoned: {},
  CapacityGranted: { source: 'registration', bytes: 5 },
  CapacityRevoked: { source: orderId },
  PlatformRoleGranted: { role: 'auditor' },
  PlatformRoleRevoked: { role: 'auditor' },
  ProfileChanged: { nickname: secret },
  EmailVerified: { email_digest: digest },
  EmailVerificationRequested: { verification_id: change_id, email_digest: digest, ...expiring },
  EmailVerificationMailed: { verification_id: change_id, outcome },
  UnprovedWarned: { outcome: 'accepted' },
  EmailVerificationAttempted: { verification_id: change_id },
  CredentialsVoided: {},
  EmailChangeRequested: { change_id, email, email_digest: digest, ...expiring },
  EmailChangeMailed: { change_id, outcome: 'refused' },
  EmailChangeAttempted: { change_id },
  EmailChanged: {
    ...{ change_id, email, email_digest: digest, previous_email_digest: otherDigest },
    revert: { code_key_id: 'c1', until },
  },
  EmailChangeReverted: {
    ...{ change_id, email, email_digest: digest, previous_email_digest: otherDigest },
    ...{ email_verified: true, voided: ['password', 'totp'], kept_passkeys: [testId] },
  },
  FormerAddressLapsed: { change_id },
  PasswordChanged: { password_hash: secret, kept_session_id: sessionId },
  PasswordRehashed: { password_hash: secret },
  SessionsRevoked: {},
  TotpEnrolled: { enrolment_id: testId, secret },
  TotpConfirmed: { enrolment_id: testId, step: 7 },
  TotpStepUsed: { step: 8 },
  TotpRemoved: { recovery_codes: 'stay' },
  RecoveryCodesIssued: { digests: [digest, otherDigest] },
  RecoveryCodeUsed: { digest },
  UserBanned: {},
  UserUnbanned: {},
  GuessingLimitReached: { secret: 'mailed_code' },
  PasskeyRegistered: {
    ...{ passkey_id: testId, credential_digest: digest, credential: secret, counter: 1, transports: ['usb'] },
    ...{ synced: true, backed_up: false, aaguid: '00000000-0000-0000-0000-000000000000', name: secret },
  },
  PasskeyUsed: { passkey_id: testId, counter: 2, backed_up: false },
  PasskeyCounterRegressed: { passkey_id: testId, counter: 1 },
  PasskeyRenamed: { passkey_id: testId, name: secret },
  PasskeyRemoved: { passkey_id: testId },
  UserErased: {},
});

const refresh = {
  refresh_generation: 2,
  refresh_key_id: 'r1',
  refresh_token_digest: digest,
  idle_expires_at: until,
};
const session = examplesOf(sessionCodec, {
  SessionStarted: {
    ...{ user_id: userId, epoch: 0, amr: ['pwd', 'otp'], auth_time: at, expires_at: until },
    ...{ client_ip_digest: digest, device_id: testId, user_agent: secret },
    ...refresh,
  },
  RefreshTokenRotated: refresh,
  SessionStrengthened: { method: 'otp', refresh: null },
  SessionReauthenticated: { method: 'passkey', auth_time: at },
  RefreshTokenReuseDetected: { refresh_generation: 1 },
  SessionRevoked: { reason: 'session_limit' },
});

const loginCode = examplesOf(loginCodeCodec, {
  LoginCodeIssued: {
    issue_id: testId,
    user_id: userId,
    email,
    requester: 'known',
    strong: false,
    ...expiring,
  },
  LoginCodeWithheld: { requester: 'unknown' },
  LoginCodeMailed: { issue_id: testId, outcome },
  LoginCodeAttemptFailed: { issue_id: testId, requester: 'unknown' },
  LoginCodeUsed: { issue_id: testId },
});

const offer = { offer_id: testId, user_id: userId, offered_by: otherUserId, expires_at: until };
const invitation = { invitation_id: testId };
const project = examplesOf(projectCodec, {
  ProjectCreated: { name: 'Launch', owner_id: userId },
  ProjectRenamed: { name: 'Line\nbreak' },
  TwoFactorRequirementChanged: { require_2fa: true },
  AccentColorChanged: { accent_color: '#0a7f5a' },
  OpenSharesChanged: { open_shares: true },
  ProjectDeleted: {},
  MemberInvited: { ...invitation, email, email_digest: digest, role: 'admin', invited_by: userId },
  InvitationMailed: { ...invitation, outcome },
  InvitationRoleChanged: { ...invitation, role: 'viewer', changed_by: userId },
  InvitationWithdrawn: { ...invitation, reason: 'declined' },
  MemberAdded: { user_id: otherUserId, role: 'editor', invitation_id: testId, given_by: userId },
  MemberRoleChanged: { user_id: otherUserId, role: 'owner' },
  MemberRemoved: { user_id: otherUserId, erased: true },
  OfferMade: { ...offer, kind: 'both' },
  OfferEnded: { offer_id: testId, reason: 'expired' },
  BillingChanged: { user_id: userId },
  EntitlementGranted: { entitlement: 'allow_s3', source: 'operator' },
  EntitlementRevoked: { entitlement: 'allow_s3', source: 'operator' },
  ApiKeyIssued: {
    ...{ key_id: testId, name: 'CI', digest, prefix: 'sk_1', last_four: 'abcd', scopes: ['audit:read'] },
    ...{ expires_at: until, issued_by: userId },
  },
  ApiKeyRevoked: { key_id: testId },
  DefaultStorageChanged: { storage_id: storageId },
});

const connection = { endpoint: '', public_endpoint: '', bucket: 'media', region: 'eu-west-1' };
const configuration = { name: 'Originals', ...connection, base_path: '', cdn_domain: '' };
const credentials = { version: 2, sealed: { secret_key: secret } };
const storage = examplesOf(storageCodec, {
  StorageCreated: {
    ...{ project_id: projectId, provider: 's3', ...configuration },
    ...{ credentials_version: 1, credentials: { secret_key: secret } },
  },
  StorageChanged: configuration,
  StorageCredentialsReplaced: { credentials },
  StorageDeliveryChanged: {
    mode: 'token',
    token: { scheme: 'alibaba_a', valid_seconds: 60, credentials: { version: 3, sealed: { key: secret } } },
  },
  StorageTestStarted: { test_id: testId, candidate: { ...connection, credentials } },
  StorageTestSucceeded: {
    test_id: testId,
    warnings: [{ code: 'cors_missing', origins: ['https://app.example.com'], cause: null }],
  },
  StorageCorsSet: { origins: ['https://app.example.com'], refused: [] },
  StorageTestFailed: { test_id: otherTestId, code: 'write_denied', hint: null },
  StorageDisabled: {},
  StorageEnabled: {},
  StorageDeleted: {},
});

const asset = examplesOf(assetCodec, {
  AssetAdded: {
    ...{ project_id: projectId, storage_id: storageId, name: 'Clip', object_key: 'clip.mp4' },
    ...{ media_type: 'video/mp4', size: 4, renditions: [], tags: ['rivers'] },
  },
  AssetUploadExpected: { attempt: 1, check_at: until },
  AssetUploadChecksEnded: {},
  AssetUploadVerified: { size: 4, entity_tag: 'a-tag', media_type: 'video/mp4', sha256: digest },
  AssetUploadMismatched: {
    ...{ size: 5, entity_tag: 'a-tag', media_type: null, sha256: null },
    differs: ['size'],
  },
  AssetUploadMissing: {},
  AssetMultipartStarted: {
    ...{ upload_id: testId, bucket_upload_id: 'an-id', part_size: 16_777_216, replaces: null },
    ...{ storage_id: storageId, object_key: 'clip.mp4', abort_at: until },
  },
  AssetMultipartAbortPutOff: { upload_id: testId, attempt: 2, abort_at: until },
  AssetMultipartEnded: { upload_id: testId, outcome: 'completed' },
  AssetDeletionRequested: {
    ...{ project_id: projectId, storage_id: storageId, endpoint: '', bucket: 'media' },
    ...{ region: 'eu-central-1', base_path: '' },
    object_keys: ['clip.mp4', 'a.vtt'],
  },
  AssetDeletionPutOff: {
    ...{ attempt: 2, delete_at: until, kept: ['a.vtt'] },
    left: [{ object_key: 'clip.mp4', cause: 'delete_denied', provider_code: 'AccessDenied' }],
  },
  AssetDeletionEnded: { left: [], kept: ['a.vtt'] },
  AssetRenamed: { name: 'Film' },
  AssetTagged: { tags: ['rivers', 'Köln'] },
  AssetFileChanged: { media_type: 'video/webm', size: 5, capacity: { project_id: projectId, bytes: 1 } },
  AssetRenditionPut: {
    rendition: { kind: 'subtitles', object_key: 'a.vtt', media_type: 'text/vtt', size: 3, language: 'de' },
    capacity: { project_id: projectId, bytes: 3 },
  },
  AssetRenditionRemoved: {
    kind: 'subtitles',
    language: 'de',
    capacity: { project_id: projectId, bytes: -3 },
  },
  AssetRemoved: { project_id: projectId, bytes: 4 },
});

const terms = { ...createdTerms, title: secret, note: secret, show_sender: true };
const share = examplesOf(shareCodec, {
  ShareCreated: {
    ...{ project_id: projectId, asset_ids: [assetId, otherTestId], tag: null },
    ...{ token: secret, token_digest: digest, password_hash: secret },
    ...{ password_class: 'long', ...terms, created_by: userId },
  },
  ShareChanged: { ...terms, expires_at: null, max_uses: null },
  SharePasswordChanged: { password_hash: secret, password_class: 'long' },
  ShareUsed: { access_id: accessId },
  ShareVerificationThrottled: { failures: 20 },
  ShareGuessingLimitReached: {},
  ShareRevoked: {},
});

const shareMail = examplesOf(shareMailCodec, {
  ShareMailRequested: {
    ...{ project_id: projectId, share_id: shareId, number: 0, to: email, message: secret },
    sent_by: userId,
  },
  ShareMailed: { number: 0, outcome },
});

const money = { amount: 1_999, currency: 'USD' };
const report = { callback: `stripe-${digest}.0`, transaction_id: 'tx-1', at };
const note = { note: secret, note_of: userId, note_digest: digest };
const order = examplesOf(orderCodec, {
  OrderPlaced: {
    ...{ user_id: userId, project_id: projectId, plan_id: 'plus', grant: { entitlement: 'allow_s3' } },
    ...{ provider: 'stripe', ...money, expires_at: until },
  },
  PaymentPending: { ...report, transaction_id: null },
  PaymentCaptured: { ...report, ...money, charged: 2_399 },
  PaymentFailed: { ...report, reason: 'canceled' },
  OrderExpired: {},
  OrderCanceled: {},
  RefundReported: { ...report, refund: { refund_id: 're-1', status: 'succeeded' }, ...money },
  DisputeOpened: { ...report, dispute_id: 'dp-1' },
  DisputeClosed: { ...report, dispute_id: 'dp-1', outcome: 'won', amount: 100, currency: 'USD' },
  PaymentMismatchFound: { ...report, provider: 'paypal', reason: 'amount', fact: { kind: 'paid', ...money } },
  ReviewResolved: { callback: report.callback, action: 'apply', ...note },
  GrantRecipientGone: { reason: 'project_deleted' },
  OrderFulfilled: {},
  FulfilmentRevoked: {},
});

const facts = [
  { kind: 'pending' },
  { kind: 'approved' },
  { kind: 'nothing' },
  { kind: 'paid', ...money },
  { kind: 'refunded-in-total', ...money },
  { kind: 'refund', refund_id: 're-1', status: 'failed', ...money },
  { kind: 'dispute', dispute_id: 'dp-1', status: 'open' },
  { kind: 'unreadable', field: 'amount' },
] as const;
const checkout = examplesOf(checkoutCodec, {
  PaymentMade: {
    ...{ project_id: projectId, provider: 'stripe', kind: 'redirect', reference: 'cs-1', expires_at: until },
    ...{ way: secret, way_of: userId },
  },
  PaymentApproved: { provider: 'paypal', reference: 'po-1', approval: 'paypal-1.0' },
  CaptureAccepted: { reference: 'po-1', approval: 'paypal-1.0' },
  CaptureRefused: { reference: 'po-1', approval: 'paypal-1.0', code: 'INSTRUMENT_DECLINED' },
  RefundAsked: {
    ...{ project_id: projectId, refund: change_id, provider: 'stripe', transaction_id: 'tx-1' },
    ...{ ...money, ...note },
  },
  RefundAccepted: { refund: change_id, refund_id: 're-1' },
  RefundRefused: { refund: change_id, code: 'charge_disputed' },
});

const email_ = examplesOf(emailCodec, {
  EmailReserved: { user_id: userId, change_id },
  EmailReleased: { user_id: userId },
});
const securityNotice = examplesOf(securityNoticeCodec, {
  SecurityNoticeRequested: { kind: 'share_opened', share_id: shareId, opened_at: at },
  SecurityNoticeMailed: { user_id: userId, kind: 'passkey_added', outcome },
});
const shareAccess = examplesOf(shareAccessCodec, {
  ShareVerified: { share_id: shareId, project_id: projectId, client_ip_digest: digest },
  ShareDownloaded: { share_id: shareId, asset_id: assetId },
});
const transaction = examplesOf(transactionCodec, {
  PaymentReported: {
    ...{ key: report.callback, digest, is_ours: true, order_id: orderId, received_at: at },
    notifications: facts.map((fact) => ({ order_number: null, transaction_id: 'tx-1', fact, at })),
  },
  PaymentConflicted: { key: report.callback, digest: otherDigest },
  PaymentReportHeld: { report: 0 },
  PaymentReportResolved: { report: 0, action: 'dismiss', order_id: null, ...note },
});
const node = examplesOf(nodeCodec, {
  NodeRegistered: description,
  NodeChanged: description,
  NodeStatusChanged: nodeStatusChanged.data,
  NodeModeChanged: nodeModeChanged.data,
  NodeRemoved: {},
});

const audit = examplesOf(auditLogCodec, {
  AuditRestarted: { previous_note: 'a note', reason: 'the disk was lost' },
});

/** One example of each event type, by stream category. The compiler refuses an event type without one. */
export const everyEvent = {
  ...{ user, session, project, storage, asset, share, order, checkout, transaction, node, audit },
  ...{ email: email_, logincode: loginCode, securitynotice: securityNotice, shareaccess: shareAccess },
  sharemail: shareMail,
} as const;

/** The codec of each of these categories. */
export const codecs: Readonly<Record<keyof typeof everyEvent, EventCodec<DomainEvent>>> = {
  ...{
    user: userCodec,
    session: sessionCodec,
    project: projectCodec,
    storage: storageCodec,
    asset: assetCodec,
  },
  ...{ share: shareCodec, order: orderCodec, checkout: checkoutCodec, transaction: transactionCodec },
  ...{ node: nodeCodec, audit: auditLogCodec, email: emailCodec, logincode: loginCodeCodec },
  ...{ securitynotice: securityNoticeCodec, shareaccess: shareAccessCodec, sharemail: shareMailCodec },
};
