import {
  agentAccess,
  auditorAccess,
  operatorAccess,
  operatorWithFactor,
  projectAccess,
  publicAccess,
  sessionAccess,
  type Policy,
} from './access.js';

/** Reading in a project: members by their role, and platform auditors. */
const reads = { role: 'viewer', apiKey: 'refused', auditors: 'admitted' } as const;
/** Reading a project's part of the audit log: its admins, its keys, and platform auditors. */
const readsAudit = { role: 'admin', apiKey: 'audit:read', auditors: 'admitted' } as const;
/** Changing a project's members. It needs a fresh second factor, and that of owners a fresh sign-in without one. */
const changesMembers = { role: 'admin', apiKey: 'refused', twoFactor: 'fresh' } as const;
/** Changing a project's storages. It needs a fresh second factor (docs/design.md#second-factor). */
const managesStorages = { role: 'admin', apiKey: 'refused', twoFactor: 'fresh' } as const;
const managesAssets = { role: 'editor', apiKey: 'asset:write' } as const;
const managesShares = { role: 'editor', apiKey: 'share:write' } as const;

/**
 * The policy of every route (docs/design.md#order-of-checks). Where the body decides whether the sign-in must be fresh, the
 * route says so (`needsFresh`): changeProject, addMember, changeMember and removeMember. The start fails if a route and its entry
 * disagree.
 */
const matrix = {
  // The service itself (docs/design.md#health-and-metrics, docs/design.md#openapi-document).
  getHome: publicAccess,
  getOverview: publicAccess,
  getHealth: publicAccess,
  getReadiness: publicAccess,
  getKeys: publicAccess,
  getOpenApi: publicAccess,
  getDocs: publicAccess,
  getDocsReader: publicAccess,
  getDocsReaderChunk: publicAccess,

  // Signing in and out (docs/design.md#accounts). A refresh token is itself a credential.
  register: publicAccess,
  login: publicAccess,
  sendEmailCode: publicAccess,
  loginByEmailCode: publicAccess,
  getPasskeyLoginOptions: publicAccess,
  loginByPasskey: publicAccess,
  refresh: publicAccess,
  logout: sessionAccess('not-yet'),
  passSecondFactor: sessionAccess('not-yet'),
  reauthenticate: sessionAccess('passed'),
  getReauthenticationOptions: sessionAccess('passed'),

  // The caller's account (docs/design.md#accounts).
  getMe: sessionAccess('not-yet'),
  changeMe: sessionAccess('passed'),
  // This call also deletes projects, which needs a fresh second factor.
  eraseMe: sessionAccess('fresh'),
  listSessions: sessionAccess('passed'),
  revokeSession: sessionAccess('passed'),
  changePassword: sessionAccess('fresh'),
  listInvitations: sessionAccess('passed'),
  // To accept may make the caller responsible for a project.
  acceptInvitation: sessionAccess('fresh'),
  declineInvitation: sessionAccess('passed'),
  requestEmailVerification: sessionAccess('passed'),
  confirmEmailVerification: sessionAccess('passed'),
  requestEmailChange: sessionAccess('fresh'),
  confirmEmailChange: sessionAccess('fresh'),
  // The mailed code proves the former address. A thief may hold the account's only sessions.
  revertEmailChange: publicAccess,
  enrolTotp: sessionAccess('fresh'),
  confirmTotp: sessionAccess('fresh'),
  // These two take a second factor in their body.
  removeTotp: sessionAccess('passed', 'fresh'),
  replaceRecoveryCodes: sessionAccess('passed', 'fresh'),

  // Passkeys (docs/design.md#passkeys).
  getPasskeyOptions: sessionAccess('fresh'),
  registerPasskey: sessionAccess('fresh'),
  listPasskeys: sessionAccess('passed'),
  renamePasskey: sessionAccess('passed'),
  removePasskey: sessionAccess('fresh'),

  // Projects (docs/design.md#projects).
  createProject: sessionAccess('passed'),
  listProjects: sessionAccess('passed'),
  getProject: projectAccess(reads),
  changeProject: projectAccess({ role: 'owner', apiKey: 'refused' }),
  deleteProject: projectAccess({ role: 'owner', apiKey: 'refused', twoFactor: 'fresh' }),
  // An owner may take the billing at once.
  offerBilling: projectAccess({ role: 'owner', apiKey: 'refused', twoFactor: 'fresh', signIn: 'fresh' }),
  withdrawBillingOffer: projectAccess({ role: 'owner', apiKey: 'refused' }),
  listMembers: projectAccess(reads),
  addMember: projectAccess(changesMembers),
  changeMember: projectAccess(changesMembers),
  // Every member may leave. The roles of both members decide whether one may remove the other.
  removeMember: projectAccess({ ...changesMembers, role: 'viewer' }),
  listApiKeys: projectAccess({ ...reads, role: 'admin' }),
  issueApiKey: projectAccess({ role: 'admin', apiKey: 'refused', twoFactor: 'fresh', signIn: 'fresh' }),
  // It takes access away, so it must not wait.
  revokeApiKey: projectAccess({ role: 'admin', apiKey: 'refused' }),

  // Storages (docs/design.md#storages, docs/api.md#41-post-apiv1projectsprojectidstorages,
  // docs/api.md#42-get-apiv1projectsprojectidstoragesstorageid).
  createStorage: projectAccess({
    role: 'admin',
    apiKey: 'refused',
    badId: 'invalid_request',
    onMissing: 'forbidden',
    twoFactor: 'fresh',
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

  // Assets (docs/design.md#assets).
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

  // Shares (docs/design.md#shares). A visitor presents the password, then the session that it opened.
  createShare: projectAccess(managesShares),
  listShares: projectAccess({ ...reads, apiKey: 'share:read' }),
  getShare: projectAccess({ ...reads, apiKey: 'share:read' }),
  changeShare: projectAccess(managesShares),
  revokeShare: projectAccess(managesShares),
  mailShare: projectAccess(managesShares),
  listShareAccesses: projectAccess({ ...reads, apiKey: 'share:read' }),
  getShareQrCode: projectAccess({ ...reads, apiKey: 'share:read' }),
  describeShare: publicAccess,
  verifyShare: publicAccess,
  renewShareMedia: publicAccess,
  getSharePage: publicAccess,
  // The URL carries a token of this service.
  getPlaylist: publicAccess,

  // Plans and orders (docs/design.md#plans-and-orders). Prices are public. Only the buyer sees an order.
  listPlans: publicAccess,
  placeOrder: sessionAccess('passed'),
  payOrder: sessionAccess('passed'),
  listOrders: sessionAccess('passed'),
  getOrder: sessionAccess('passed'),
  cancelOrder: sessionAccess('passed'),
  listProjectOrders: projectAccess({ ...reads, apiKey: 'order:read' }),
  getProjectOrder: projectAccess({ ...reads, apiKey: 'order:read' }),

  // Callbacks prove their sender by a signature (docs/design.md#payment-callbacks).
  receivePaymentCallback: publicAccess,
  confirmPaymentCallback: publicAccess,

  // Payments that wait for an operator (docs/design.md#payment-review).
  listUnmatchedPayments: operatorAccess,
  listPaymentsInReview: operatorAccess,
  resolvePayment: operatorWithFactor,
  dismissUnmatchedPayments: operatorWithFactor,
  findPayments: operatorAccess,
  recordPayment: operatorWithFactor,
  refundOrder: operatorWithFactor,
  getPayment: operatorAccess,
  getAnyOrder: operatorAccess,

  // The audit log (docs/design.md#serving-the-log). Its page holds no data and signs its user in.
  getAuditPage: publicAccess,
  getAuditStatus: auditorAccess,
  getAuditProof: auditorAccess,
  getAuditConsistency: auditorAccess,
  getAuditCheckpoint: auditorAccess,
  listAuditEvents: auditorAccess,
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

  // Nodes (docs/design.md#peer-nodes).
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
