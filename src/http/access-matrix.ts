import { agentAccess, operatorAccess, projectAccess, publicAccess, sessionAccess } from './access.js';
import type { Policy } from './access.js';

/** Reading in a project: members by their role, and platform auditors. */
const reads = { role: 'viewer', apiKey: 'refused', auditors: 'admitted' } as const;
/** Changing a project's members (DESIGN 4.1: needs a fresh second factor). */
const changesMembers = { role: 'admin', apiKey: 'refused', twoFactor: 'fresh' } as const;
/** Changing a project's storages (DESIGN 4.1: needs a fresh second factor). */
const managesStorages = { role: 'admin', apiKey: 'refused', twoFactor: 'fresh' } as const;
/** Changing a project's assets. */
const managesAssets = { role: 'editor', apiKey: 'asset:write' } as const;
/** Sharing a project's assets. */
const managesShares = { role: 'editor', apiKey: 'share:write' } as const;

/**
 * Who may call what: every route's policy, by the route's name (DESIGN section 4). Routes take their policy from here, and
 * start-up fails for a route that does not, and for an entry that no route serves.
 */
export const accessMatrix = {
  // The service itself (4.7).
  getHealth: publicAccess,
  getReadiness: publicAccess,
  getKeys: publicAccess,
  getOpenApi: publicAccess,
  getDocs: publicAccess,

  // Signing in and out (4.1). A refresh token is a credential of its own.
  register: publicAccess,
  login: publicAccess,
  sendEmailCode: publicAccess,
  loginByEmailCode: publicAccess,
  refresh: publicAccess,
  logout: sessionAccess('not-yet'),
  passSecondFactor: sessionAccess('not-yet'),

  // The caller's own account (4.1).
  getMe: sessionAccess('not-yet'),
  changeMe: sessionAccess('passed'),
  // Deletes projects too, which deleting them one by one asks a fresh second factor for.
  eraseMe: sessionAccess('fresh'),
  listSessions: sessionAccess('passed'),
  revokeSession: sessionAccess('passed'),
  changePassword: sessionAccess('fresh'),
  requestEmailChange: sessionAccess('fresh'),
  confirmEmailChange: sessionAccess('fresh'),
  enrolTotp: sessionAccess('passed'),
  confirmTotp: sessionAccess('passed'),
  // These two take a second factor in their body.
  removeTotp: sessionAccess('passed'),
  replaceRecoveryCodes: sessionAccess('passed'),

  // Projects (4.2).
  createProject: sessionAccess('passed'),
  listProjects: sessionAccess('passed'),
  getProject: projectAccess(reads),
  changeProject: projectAccess({ role: 'owner', apiKey: 'refused' }),
  deleteProject: projectAccess({ role: 'owner', apiKey: 'refused', twoFactor: 'fresh' }),
  listMembers: projectAccess(reads),
  addMember: projectAccess(changesMembers),
  changeMember: projectAccess(changesMembers),
  // Everybody may leave; whom else a member may remove depends on both roles and is decided with the project's state.
  removeMember: projectAccess({ ...changesMembers, role: 'viewer' }),
  listApiKeys: projectAccess({ ...reads, role: 'admin' }),
  issueApiKey: projectAccess({ role: 'admin', apiKey: 'refused', twoFactor: 'fresh' }),
  revokeApiKey: projectAccess({ role: 'admin', apiKey: 'refused' }),

  // Storages (4.3; create and get are the API document's 4.1 and 4.2).
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
  changeStorage: projectAccess(managesStorages),
  deleteStorage: projectAccess(managesStorages),
  replaceStorageCredentials: projectAccess(managesStorages),
  testStorage: projectAccess({ ...managesStorages, apiKey: 'storage:test' }),
  chooseDefaultStorage: projectAccess(managesStorages),
  disableStorage: projectAccess(managesStorages),
  enableStorage: projectAccess(managesStorages),
  getDelivery: projectAccess({ ...reads, apiKey: 'storage:read' }),
  changeDelivery: projectAccess(managesStorages),

  // Assets (4.4).
  addAsset: projectAccess(managesAssets),
  listAssets: projectAccess({ ...reads, apiKey: 'asset:read' }),
  getAsset: projectAccess({ ...reads, apiKey: 'asset:read' }),
  changeAsset: projectAccess(managesAssets),
  deleteAsset: projectAccess(managesAssets),
  issueUploadUrl: projectAccess(managesAssets),
  // A POST, which auditors may not call.
  issueMediaLinks: projectAccess({ role: 'viewer', apiKey: 'asset:read' }),

  // Shares (4.4). A visitor presents the share's password, then the session that it opened.
  createShare: projectAccess(managesShares),
  listShares: projectAccess({ ...reads, apiKey: 'share:read' }),
  getShare: projectAccess({ ...reads, apiKey: 'share:read' }),
  changeShare: projectAccess(managesShares),
  revokeShare: projectAccess(managesShares),
  listShareAccesses: projectAccess({ ...reads, apiKey: 'share:read' }),
  verifyShare: publicAccess,
  renewShareMedia: publicAccess,
  getSharePage: publicAccess,

  // Plans and orders (4.5). Prices are no secret; an order is its buyer's.
  listPlans: publicAccess,
  placeOrder: sessionAccess('passed'),
  listOrders: sessionAccess('passed'),
  getOrder: sessionAccess('passed'),
  cancelOrder: sessionAccess('passed'),
  listProjectOrders: projectAccess({ ...reads, apiKey: 'order:read' }),

  // Callbacks prove by their signature whom they are from (4.5).
  receivePaymentCallback: publicAccess,
  confirmPaymentCallback: publicAccess,

  // Payments that wait for somebody (4.5).
  listUnmatchedPayments: operatorAccess,
  listPaymentsInReview: operatorAccess,
  resolvePayment: operatorAccess,
  dismissUnmatchedPayments: operatorAccess,
  getPayment: operatorAccess,
  getAnyOrder: operatorAccess,

  // Nodes (4.6).
  listPeers: agentAccess,
} as const satisfies Readonly<Record<string, Policy>>;
