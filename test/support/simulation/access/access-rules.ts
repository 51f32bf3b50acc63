import type { Place, Situation } from './access-situations.js';

/**
 * The access rule of a route, and the error of a refused caller (src/http/README.md#order-of-checks). The rules are written
 * from the document alone and share nothing with the service's matrix and gate, which they judge.
 */
export interface Rule {
  /**
   * `agent`: a caller with the agent secret. `user`: a signed-in user. A role: members of the project from that role
   * on.
   */
  readonly who:
    'everyone' | 'agent' | 'user' | 'operator' | 'auditor' | 'viewer' | 'editor' | 'admin' | 'owner';
  /** The scope that a key needs. Without one, keys are refused. */
  readonly keys?: string;
  /** Whether platform auditors may GET in every project. */
  readonly auditors?: true | 'forbidden';
  /**
   * The second factor (docs/accounts.md#second-factor): calls that a session may make before it passes it, and calls that
   * need it passed within the last 15 minutes.
   */
  readonly secondFactor?: 'not yet needed' | 'within 15 minutes';
  /** Whether a caller without a second factor must have signed in within the last 15 minutes. */
  readonly signIn?: 'within 15 minutes';
  /** An operator needs a second factor, passed within the last 15 minutes. */
  readonly settlesPayments?: true;
  readonly entitlement?: true;
  /** Only create storage: a malformed id is 400, no membership 403. */
  readonly isCreateStorage?: true;
}

const everyone: Rule = { who: 'everyone' };
const user: Rule = { who: 'user' };
const halfSignedIn: Rule = { who: 'user', secondFactor: 'not yet needed' };
const userAgain: Rule = { who: 'user', secondFactor: 'within 15 minutes', signIn: 'within 15 minutes' };
const userSignedInAgain: Rule = { who: 'user', signIn: 'within 15 minutes' };
const operatorSettles: Rule = { who: 'operator', settlesPayments: true };
const auditor: Rule = { who: 'auditor' };
const projectAudit: Rule = { who: 'admin', auditors: true, keys: 'audit:read' };
const viewerReads: Rule = { who: 'viewer', auditors: true };
const editorShares: Rule = { who: 'editor', keys: 'share:write' };
const adminAgain: Rule = { who: 'admin', secondFactor: 'within 15 minutes' };
const editorWrites: Rule = { who: 'editor', keys: 'asset:write' };

/**
 * The rules by method and path. `{}` stands for a parameter of any name. Paths are under `/api/v1`, except those at the
 * root. That of `/api/v1` itself is empty.
 */
export const rules: Readonly<Record<string, Rule>> = {
  'GET /': everyone,
  'GET ': everyone,
  'GET /healthz': everyone,
  'GET /readyz': everyone,
  'GET /.well-known/jwks.json': everyone,
  'GET /openapi.json': everyone,
  'GET /docs': everyone,
  'GET /docs/reader/{}/{}': everyone,
  'GET /docs/reader/{}/chunks/{}': everyone,
  'GET /guides': everyone,
  'GET /guides/{}': everyone,
  'GET /guides/{}/{}': everyone,
  'GET /guides/assets/chunks/{}': everyone,

  'POST /auth/register': everyone,
  'POST /auth/login': everyone,
  'POST /auth/email-code/send': everyone,
  'POST /auth/email-code/login': everyone,
  'POST /auth/refresh': everyone,
  'POST /auth/logout': halfSignedIn,
  'GET /auth/me': halfSignedIn,
  'PATCH /auth/me': user,
  // It deletes projects too, so it needs the same second factor.
  'DELETE /auth/me': userAgain,
  'GET /auth/sessions': user,
  'DELETE /auth/sessions/{}': user,
  'GET /auth/invitations': user,
  // It may make the user responsible for a project.
  'POST /auth/invitations/{}/accept': userAgain,
  'POST /auth/invitations/{}/decline': user,
  'POST /auth/password': userAgain,
  'POST /auth/email': userAgain,
  'POST /auth/email/confirm': userAgain,
  'POST /auth/email/verify': user,
  'POST /auth/email/verify/send': user,
  'POST /auth/email/revert': everyone,
  'POST /auth/reauthenticate': user,
  'POST /auth/reauthenticate/options': user,
  'POST /auth/2fa/totp': userAgain,
  'POST /auth/2fa/totp/confirm': userAgain,
  // The body of these two has a second factor.
  'POST /auth/2fa/totp/remove': userSignedInAgain,
  'POST /auth/2fa/recovery-codes': userSignedInAgain,
  'POST /auth/2fa/verify': halfSignedIn,
  'POST /auth/passkey-login/options': everyone,
  'POST /auth/passkey-login': everyone,
  'POST /auth/passkey-options': userAgain,
  'POST /auth/passkeys': userAgain,
  'GET /auth/passkeys': user,
  'PATCH /auth/passkeys/{}': user,
  'DELETE /auth/passkeys/{}': userAgain,

  'POST /projects': user,
  'GET /projects': user,
  'GET /projects/{}': viewerReads,
  'PATCH /projects/{}': { who: 'owner' },
  'DELETE /projects/{}': { who: 'owner', secondFactor: 'within 15 minutes' },
  'PUT /projects/{}/billing-offer': { ...adminAgain, who: 'owner', signIn: 'within 15 minutes' },
  'DELETE /projects/{}/billing-offer': { who: 'owner' },
  'GET /projects/{}/members': viewerReads,
  'POST /projects/{}/members': adminAgain,
  'PATCH /projects/{}/members/{}': adminAgain,
  // Every member may leave, so every member may call it.
  'DELETE /projects/{}/members/{}': { who: 'viewer', secondFactor: 'within 15 minutes' },
  'GET /projects/{}/api-keys': { who: 'admin', auditors: true },
  'POST /projects/{}/api-keys': { ...adminAgain, signIn: 'within 15 minutes' },
  'DELETE /projects/{}/api-keys/{}': { who: 'admin' },

  'POST /projects/{}/storages': { ...adminAgain, entitlement: true, isCreateStorage: true },
  'GET /projects/{}/storages': { ...viewerReads, keys: 'storage:read' },
  'GET /projects/{}/storages/{}': { ...viewerReads, keys: 'storage:read' },
  'GET /projects/{}/storages/{}/undeleted-objects': { ...viewerReads, keys: 'storage:read' },
  'PATCH /projects/{}/storages/{}': adminAgain,
  'DELETE /projects/{}/storages/{}': adminAgain,
  'PUT /projects/{}/storages/{}/credentials': adminAgain,
  'POST /projects/{}/storages/{}/test': { ...adminAgain, keys: 'storage:test' },
  'POST /projects/{}/storages/{}/cors': adminAgain,
  'POST /projects/{}/storages/{}/default': adminAgain,
  'POST /projects/{}/storages/{}/disable': adminAgain,
  'POST /projects/{}/storages/{}/enable': adminAgain,
  'GET /projects/{}/storages/{}/delivery': { ...viewerReads, keys: 'storage:read' },
  'PUT /projects/{}/storages/{}/delivery': adminAgain,

  'POST /projects/{}/assets': editorWrites,
  'POST /projects/{}/assets/import': editorWrites,
  'GET /projects/{}/assets': { ...viewerReads, keys: 'asset:read' },
  'GET /projects/{}/assets/{}': { ...viewerReads, keys: 'asset:read' },
  'PATCH /projects/{}/assets/{}': editorWrites,
  'DELETE /projects/{}/assets/{}': editorWrites,
  'PUT /projects/{}/assets/{}/renditions/{}': editorWrites,
  'DELETE /projects/{}/assets/{}/renditions/{}': editorWrites,
  'POST /projects/{}/assets/{}/upload-url': editorWrites,
  'POST /projects/{}/assets/{}/uploaded': editorWrites,
  'POST /projects/{}/assets/{}/uploads': editorWrites,
  // Its URLs write.
  'GET /projects/{}/assets/{}/uploads/{}': editorWrites,
  'POST /projects/{}/assets/{}/uploads/{}/complete': editorWrites,
  'DELETE /projects/{}/assets/{}/uploads/{}': editorWrites,
  // It is no GET, so auditors may not call it.
  'POST /projects/{}/assets/{}/media': { who: 'viewer', keys: 'asset:read' },

  'POST /projects/{}/shares': editorShares,
  'GET /projects/{}/shares': { ...viewerReads, keys: 'share:read' },
  'GET /projects/{}/shares/{}': { ...viewerReads, keys: 'share:read' },
  'PATCH /projects/{}/shares/{}': editorShares,
  'DELETE /projects/{}/shares/{}': editorShares,
  'POST /projects/{}/shares/{}/mail': editorShares,
  // Its URL opens the share. Auditors read the share, so they are refused by 403.
  'GET /projects/{}/shares/{}/qr': { ...editorShares, auditors: 'forbidden' },
  'GET /projects/{}/shares/{}/accesses': { ...viewerReads, keys: 'share:read' },
  'GET /shares/{}': everyone,
  'GET /hls/{}/playlist.m3u8': everyone,
  'POST /shares/{}/verify': everyone,
  'POST /shares/{}/media': everyone,
  'GET /s/{}': everyone,
  // The page holds no data. Its calls are those of an auditor.
  'GET /audit': everyone,

  'GET /plans': everyone,
  'POST /orders': user,
  'GET /orders': user,
  'GET /orders/{}': user,
  'POST /orders/{}/cancel': user,
  'POST /orders/{}/pay': user,
  'POST /orders/{}/refund': operatorSettles,
  'GET /projects/{}/orders': { ...viewerReads, keys: 'order:read' },
  'GET /projects/{}/orders/{}': { ...viewerReads, keys: 'order:read' },

  'POST /payment/webhooks/{}': everyone,
  'GET /payment/webhooks/{}': everyone,

  'GET /admin/payments/unmatched': { who: 'operator' },
  'GET /admin/payments/review': { who: 'operator' },
  'POST /admin/payments/{}/resolve': operatorSettles,
  'POST /admin/payments/unmatched/dismiss': operatorSettles,
  'GET /admin/payments': { who: 'operator' },
  'POST /admin/payments/record': operatorSettles,
  'GET /admin/payments/{}': { who: 'operator' },
  'GET /admin/orders/{}': { who: 'operator' },
  'POST /admin/nodes': { who: 'operator' },
  'GET /admin/nodes': { who: 'operator' },
  'GET /admin/nodes/{}': { who: 'operator' },
  'PATCH /admin/nodes/{}': { who: 'operator' },
  'DELETE /admin/nodes/{}': { who: 'operator' },

  'GET /audit/status': auditor,
  'GET /audit/proof': auditor,
  'GET /audit/consistency': auditor,
  'GET /audit/events': auditor,
  'GET /audit/names': auditor,
  'GET /audit/streams/{}': auditor,
  'GET /projects/{}/audit/events': projectAudit,
  'GET /projects/{}/audit/proof': projectAudit,
  'GET /audit/log/checkpoint': auditor,
  'GET /audit/log/tile/{}/{}': auditor,
  'GET /audit/log/events/{}': auditor,
  'GET /audit/log/tile/{}/{}/{}': auditor,
  'GET /audit/log/events/{}/{}': auditor,
  'GET /audit/log/tile/{}/{}/{}/{}': auditor,
  'GET /audit/log/events/{}/{}/{}': auditor,
  'GET /audit/log/tile/{}/{}/{}/{}/{}': auditor,
  'GET /audit/log/events/{}/{}/{}/{}': auditor,

  'GET /internal/peer-list': { who: 'agent' },
  'POST /internal/nodes/{}/checks': { who: 'agent' },
};

/** Admitted, or refused with a status and a code. */
export type Verdict = 'admitted' | `${number} ${string}`;

/** Returns the verdict of a rule for a situation. */
export function verdictOf(rule: Rule, situation: Situation): Verdict {
  if (rule.who === 'everyone') return 'admitted';
  const { credential, place } = situation;
  if (rule.who === 'agent') {
    if (credential !== 'agent secret') return '401 unauthorized';
    return place === 'malformed id' ? '404 not_found' : 'admitted';
  }

  // Authentication.
  const refusal = unauthenticated[credential];
  if (refusal !== undefined) return refusal;
  // The id in the path. The log of an auditor has paths of any text, which are checked later.
  if (place === 'malformed id' && rule.who !== 'auditor')
    return rule.isCreateStorage ? '400 invalid_request' : '404 not_found';
  return credential === 'session' ? sessionVerdict(rule, situation) : keyVerdict(rule, situation);
}

/** The refusals of credentials. An invalid `X-API-Key` is 401 even beside a valid JWT. */
const unauthenticated: Partial<Record<Situation['credential'], Verdict>> = {
  none: '401 unauthorized',
  'agent secret': '401 unauthorized',
  'wrong agent secret': '401 unauthorized',
  'bad token': '401 invalid_token',
  'expired token': '401 token_expired',
  'token of a revoked session': '401 invalid_token',
  'token of an older epoch': '401 invalid_token',
  'token of an expired session': '401 invalid_token',
  'malformed key': '401 unauthorized',
  'revoked key': '401 unauthorized',
  'expired key': '401 unauthorized',
  'session beside a bad key': '401 unauthorized',
};

const isProjectRule = ({ who }: Rule): boolean => roles.includes(who);
const roles = ['none', 'viewer', 'editor', 'admin', 'owner'];

function keyVerdict(rule: Rule, { credential, place }: Situation): Verdict {
  if (rule.keys === undefined) return '403 api_key_not_allowed';
  const ownKey =
    credential !== 'key of another project' && typeof place === 'object' && place.whose === 'own';
  if (!ownKey) return notMember(rule);
  const scope = credential === 'session beside a key' ? 'storage:read' : credential.replace('key for ', '');
  // A key needs no second factor, even if the project requires two-factor authentication.
  return scope === rule.keys ? 'admitted' : '403 insufficient_scope';
}

function sessionVerdict(rule: Rule, situation: Situation): Verdict {
  const { place } = situation;
  if (!isProjectRule(rule)) return platformVerdict(rule, situation);
  // Membership (an unknown project has no members), then the role, the second factor, and the entitlement.
  if (typeof place !== 'object') return notMember(rule);
  return (
    membershipVerdict(rule, situation, place) ??
    secondFactorVerdict(rule, situation, place) ??
    (rule.entitlement === true && !place.entitled ? '403 entitlement_required' : 'admitted')
  );
}

function platformVerdict(rule: Rule, situation: Situation): Verdict {
  const { platform, totp } = situation;
  if (rule.who !== 'user') {
    if (platform !== rule.who && platform !== 'both') return '403 insufficient_role';
    if (totp === 'off') return '403 two_factor_required';
  }
  return secondFactorVerdict(rule, situation) ?? 'admitted';
}

function membershipVerdict(rule: Rule, situation: Situation, { whose }: Place): Verdict | null {
  const role = whose === 'own' ? situation.role : 'none';
  if (roles.indexOf(role) >= roles.indexOf(rule.who)) return null;
  const isAuditor = ['auditor', 'both'].includes(situation.platform);
  if (isAuditor && rule.auditors === true) {
    return ['off', 'on, never passed'].includes(situation.totp) ? '403 two_factor_required' : null;
  }
  const isKnown = role !== 'none' || (isAuditor && rule.auditors === 'forbidden');
  return isKnown ? '403 insufficient_role' : notMember(rule);
}

function notMember(rule: Rule): Verdict {
  return rule.isCreateStorage ? '403 forbidden' : '404 not_found';
}

function secondFactorVerdict(rule: Rule, { totp, signedIn }: Situation, place?: Place): Verdict | null {
  const required = '403 two_factor_required';
  if (totp === 'off') {
    if (place?.requires2fa === true) return required;
    const isLate = signedIn === '15:01 ago' && rule.signIn === 'within 15 minutes';
    return isLate ? '403 reauthentication_required' : null;
  }
  if (rule.secondFactor === 'not yet needed') return null;
  if (totp === 'on, never passed') return required;
  const isSoon = rule.secondFactor === 'within 15 minutes' || rule.settlesPayments === true;
  return totp === 'on, passed 15:01 ago' && isSoon ? required : null;
}
