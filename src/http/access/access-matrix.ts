import {
  agentAccess,
  auditorAccess,
  operatorAccess,
  settlesPayments,
  projectAccess,
  publicAccess,
  sessionAccess,
  visitorAccess,
  type Policy,
} from './access.js';

/** Reading in a project: members by their role, and platform auditors. */
const reads = { role: 'viewer', apiKey: 'refused', auditors: 'admitted' } as const;
/** Reading a project's part of the audit log: its admins, its keys, and platform auditors. */
const readsAudit = { role: 'admin', apiKey: 'audit:read', auditors: 'admitted' } as const;
/** Changing a project's members. Changes of owners need more, which the routes say. */
const changesMembers = { role: 'admin', apiKey: 'refused', action: 'change_members' } as const;
/** Changing a project's storages (docs/accounts.md#second-factor). */
const managesStorages = { role: 'admin', apiKey: 'refused', action: 'change_storages' } as const;
const managesAssets = { role: 'editor', apiKey: 'asset:write' } as const;
const managesShares = { role: 'editor', apiKey: 'share:write' } as const;

/**
 * The policy of every route (src/http/README.md#order-of-checks). Where the body decides what the session must have proved, the
 * route says so (`guards`): logout, changeProject, addMember, changeMember and removeMember. test/http/access/access-matrix.test.ts
 * compares routes and entries.
 */
const matrix = {
  // The service itself (src/observing/README.md#health, src/http/README.md#openapi-document).
  getHome: publicAccess,
  getOverview: publicAccess,
  getHealth: publicAccess,
  getReadiness: publicAccess,
  getKeys: publicAccess,
  getOpenApi: publicAccess,
  getDocs: publicAccess,
  getDocsReader: publicAccess,
  getDocsReaderChunk: publicAccess,
  getGuides: publicAccess,
  getGuide: publicAccess,
  getGuideFile: publicAccess,
  getGuideChunk: publicAccess,
  // Signing in and out (src/areas/accounts/README.md#rules-of-an-account). A refresh token is itself a credential.
  register: publicAccess,
  login: publicAccess,
  sendEmailCode: publicAccess,
  loginByEmailCode: publicAccess,
  getPasskeyLoginOptions: publicAccess,
  loginByPasskey: publicAccess,
  refresh: publicAccess,
  logout: sessionAccess('begin'),
  passSecondFactor: sessionAccess('begin'),
  reauthenticate: sessionAccess('reauthenticate'),
  getReauthenticationOptions: sessionAccess('reauthenticate'),
  // The caller's account (src/areas/accounts/README.md#rules-of-an-account).
  getMe: sessionAccess('begin'),
  changeMe: sessionAccess(),
  eraseMe: sessionAccess('delete_account'),
  listSessions: sessionAccess(),
  revokeSession: sessionAccess(),
  changePassword: sessionAccess('change_password'),
  listInvitations: sessionAccess(),
  // To accept may make the caller responsible for a project.
  acceptInvitation: sessionAccess('accept_invitation'),
  declineInvitation: sessionAccess(),
  requestEmailVerification: sessionAccess(),
  confirmEmailVerification: sessionAccess(),
  requestEmailChange: sessionAccess('change_address'),
  confirmEmailChange: sessionAccess('change_address'),
  // The mailed code proves the former address. A thief may hold the account's only sessions.
  revertEmailChange: publicAccess,
  enrolTotp: sessionAccess('add_totp'),
  confirmTotp: sessionAccess('add_totp'),
  // These two take a code of TOTP in their body.
  removeTotp: sessionAccess('remove_totp'),
  replaceRecoveryCodes: sessionAccess('replace_recovery_codes'),
  // Passkeys (src/areas/accounts/commands/README.md#passkeys).
  getPasskeyOptions: sessionAccess('add_passkey'),
  registerPasskey: sessionAccess('add_passkey'),
  listPasskeys: sessionAccess(),
  renamePasskey: sessionAccess(),
  removePasskey: sessionAccess('remove_passkey'),
  // Projects (src/areas/projects/README.md#rules-of-a-project).
  createProject: sessionAccess(),
  listProjects: sessionAccess(),
  getProject: projectAccess(reads),
  changeProject: projectAccess({ role: 'owner', apiKey: 'refused' }),
  deleteProject: projectAccess({ role: 'owner', apiKey: 'refused', action: 'delete_project' }),
  // An owner may take the billing at once.
  offerBilling: projectAccess({ role: 'owner', apiKey: 'refused', action: 'offer_billing' }),
  withdrawBillingOffer: projectAccess({ role: 'owner', apiKey: 'refused' }),
  listMembers: projectAccess(reads),
  addMember: projectAccess(changesMembers),
  changeMember: projectAccess(changesMembers),
  // Every member may leave. The roles of both members decide whether one may remove the other.
  removeMember: projectAccess({ ...changesMembers, role: 'viewer' }),
  listApiKeys: projectAccess({ ...reads, role: 'admin' }),
  issueApiKey: projectAccess({ role: 'admin', apiKey: 'refused', action: 'issue_api_key' }),
  // It takes access away, so it must not wait.
  revokeApiKey: projectAccess({ role: 'admin', apiKey: 'refused' }),
  // Storages (src/areas/storages/README.md#rules-of-a-storage, docs/api.md#41-post-apiv1projectsprojectidstorages,
  // docs/api.md#42-get-apiv1projectsprojectidstoragesstorageid).
  createStorage: projectAccess({
    role: 'admin',
    apiKey: 'refused',
    badId: 'invalid_request',
    onMissing: 'forbidden',
    action: 'change_storages',
    entitlement: 'allow_s3',
  }),
  listStorages: projectAccess({ ...reads, apiKey: 'storage:read' }),
  getStorage: projectAccess({ ...reads, apiKey: 'storage:read' }),
  listUndeletedObjects: projectAccess({ ...reads, apiKey: 'storage:read' }),
  changeStorage: projectAccess(managesStorages),
  deleteStorage: projectAccess(managesStorages),
  replaceStorageCredentials: projectAccess(managesStorages),
  testStorage: projectAccess({ ...managesStorages, apiKey: 'storage:test' }),
  setStorageCors: projectAccess(managesStorages),
  chooseDefaultStorage: projectAccess(managesStorages),
  disableStorage: projectAccess(managesStorages),
  enableStorage: projectAccess(managesStorages),
  getDelivery: projectAccess({ ...reads, apiKey: 'storage:read' }),
  changeDelivery: projectAccess(managesStorages),
  // Assets (src/areas/assets/README.md#rules-of-an-asset).
  addAsset: projectAccess(managesAssets),
  listAssets: projectAccess({ ...reads, apiKey: 'asset:read' }),
  getAsset: projectAccess({ ...reads, apiKey: 'asset:read' }),
  changeAsset: projectAccess(managesAssets),
  deleteAsset: projectAccess(managesAssets),
  importAssets: projectAccess(managesAssets),
  putAssetRendition: projectAccess(managesAssets),
  removeAssetRendition: projectAccess(managesAssets),
  issueUploadUrl: projectAccess(managesAssets),
  confirmUpload: projectAccess(managesAssets),
  startUpload: projectAccess(managesAssets),
  // Its URLs write, so viewers and auditors may not call it.
  listUploadParts: projectAccess(managesAssets),
  completeUpload: projectAccess(managesAssets),
  abortUpload: projectAccess(managesAssets),
  // This is a POST, so auditors may not call it.
  issueMediaLinks: projectAccess({ role: 'viewer', apiKey: 'asset:read' }),
  // Shares (src/areas/shares/README.md#rules-of-a-share). A visitor presents the password, then the session that it opened.
  createShare: projectAccess(managesShares),
  listShares: projectAccess({ ...reads, apiKey: 'share:read' }),
  getShare: projectAccess({ ...reads, apiKey: 'share:read' }),
  changeShare: projectAccess(managesShares),
  revokeShare: projectAccess(managesShares),
  mailShare: projectAccess(managesShares),
  listShareAccesses: projectAccess({ ...reads, apiKey: 'share:read' }),
  // It opens the share, so readers do not get it.
  getShareQrCode: projectAccess({ ...managesShares, auditors: 'forbidden' }),
  describeShare: visitorAccess,
  verifyShare: visitorAccess,
  renewShareMedia: visitorAccess,
  getSharePage: visitorAccess,
  // The URL carries a token of this service.
  getPlaylist: visitorAccess,
  // Plans and orders (src/areas/payments/README.md#plans-and-orders). Prices are public. Only the buyer sees an order.
  listPlans: publicAccess,
  placeOrder: sessionAccess(),
  payOrder: sessionAccess(),
  listOrders: sessionAccess(),
  getOrder: sessionAccess(),
  cancelOrder: sessionAccess(),
  listProjectOrders: projectAccess({ ...reads, apiKey: 'order:read' }),
  getProjectOrder: projectAccess({ ...reads, apiKey: 'order:read' }),
  // Callbacks prove their sender by a signature (src/areas/payments/README.md#payment-callbacks).
  receivePaymentCallback: publicAccess,
  confirmPaymentCallback: publicAccess,
  // Payments that wait for an operator (docs/payments/resolving.md#see-and-decide).
  listUnmatchedPayments: operatorAccess,
  listPaymentsInReview: operatorAccess,
  resolvePayment: settlesPayments,
  dismissUnmatchedPayments: settlesPayments,
  findPayments: operatorAccess,
  recordPayment: settlesPayments,
  refundOrder: settlesPayments,
  getPayment: operatorAccess,
  getAnyOrder: operatorAccess,
  // The audit log (src/areas/audit/README.md#serving-the-log). Its page holds no data and signs its user in.
  getAuditPage: publicAccess,
  getAuditStatus: auditorAccess,
  getAuditProof: auditorAccess,
  getAuditConsistency: auditorAccess,
  getAuditCheckpoint: auditorAccess,
  listAuditEvents: auditorAccess,
  listAuditNames: auditorAccess,
  getAuditStream: auditorAccess,
  listProjectAuditEvents: projectAccess(readsAudit),
  getProjectAuditProof: projectAccess(readsAudit),
  getAuditTile1: auditorAccess,
  getAuditEventLines1: auditorAccess,
  getAuditTile2: auditorAccess,
  getAuditEventLines2: auditorAccess,
  getAuditTile3: auditorAccess,
  getAuditEventLines3: auditorAccess,
  getAuditTile4: auditorAccess,
  getAuditEventLines4: auditorAccess,
  // Nodes (src/areas/nodes/README.md#peer-nodes).
  listPeers: agentAccess,
  reportNodeCheck: agentAccess,
  createNode: operatorAccess,
  listNodes: operatorAccess,
  getNode: operatorAccess,
  changeNode: operatorAccess,
  removeNode: operatorAccess,
} as const satisfies Readonly<Record<string, Policy>>;

/** The names of the service's routes: `operationId` of the OpenAPI document. */
export type RouteName = keyof typeof matrix;
export type KindOf<Name extends RouteName> = (typeof matrix)[Name]['kind'];

export const accessMatrix: { readonly [Name in RouteName]: Policy<KindOf<Name>> } = matrix;
