import type { Place, Situation } from './access-situations.js';

/**
 * Who may call what, in the words of DESIGN section 4, and what a refused caller is told, by that section's "order of checks".
 * Written from the text alone: it shares nothing with the service's own table and gate, which it judges.
 */
export interface Rule {
  /** `agent`: whoever has the agent secret. `user`: whoever is signed in. A role: members of the project from that role on. */
  readonly who: 'anybody' | 'agent' | 'user' | 'operator' | 'viewer' | 'editor' | 'admin' | 'owner';
  /** The scope that a key needs; without one, keys are refused. */
  readonly keys?: string;
  /** Platform auditors may GET in every project. */
  readonly auditors?: true;
  /** 4.1: what a session may call that never passed the second factor; what needs it passed within the last 15 minutes. */
  readonly secondFactor?: 'not yet needed' | 'within 15 minutes';
  readonly entitlement?: true;
  /** Create storage alone: a malformed id is 400, no membership 403. */
  readonly isCreateStorage?: true;
}

const anybody: Rule = { who: 'anybody' };
const user: Rule = { who: 'user' };
const halfSignedIn: Rule = { who: 'user', secondFactor: 'not yet needed' };
const userAgain: Rule = { who: 'user', secondFactor: 'within 15 minutes' };
const viewerReads: Rule = { who: 'viewer', auditors: true };
const editorShares: Rule = { who: 'editor', keys: 'share:write' };
const adminAgain: Rule = { who: 'admin', secondFactor: 'within 15 minutes' };
const editorWrites: Rule = { who: 'editor', keys: 'asset:write' };

/** By method and path; `{}` stands for whatever a parameter is called. Paths are under `/api/v1` save those at the root. */
export const rules: Readonly<Record<string, Rule>> = {
  'GET /healthz': anybody,
  'GET /readyz': anybody,
  'GET /.well-known/jwks.json': anybody,
  'GET /openapi.json': anybody,
  'GET /docs': anybody,

  'POST /auth/register': anybody,
  'POST /auth/login': anybody,
  'POST /auth/email-code/send': anybody,
  'POST /auth/email-code/login': anybody,
  'POST /auth/refresh': anybody,
  'POST /auth/logout': halfSignedIn,
  'GET /auth/me': halfSignedIn,
  'PATCH /auth/me': user,
  // Takes projects along, as deleting them does.
  'DELETE /auth/me': userAgain,
  'GET /auth/sessions': user,
  'DELETE /auth/sessions/{}': user,
  'POST /auth/password': userAgain,
  'POST /auth/email': userAgain,
  'POST /auth/email/confirm': userAgain,
  'POST /auth/2fa/totp': user,
  'POST /auth/2fa/totp/confirm': user,
  'POST /auth/2fa/totp/remove': user,
  'POST /auth/2fa/recovery-codes': user,
  'POST /auth/2fa/verify': halfSignedIn,

  'POST /projects': user,
  'GET /projects': user,
  'GET /projects/{}': viewerReads,
  'PATCH /projects/{}': { who: 'owner' },
  'DELETE /projects/{}': { who: 'owner', secondFactor: 'within 15 minutes' },
  'GET /projects/{}/members': viewerReads,
  'POST /projects/{}/members': adminAgain,
  'PATCH /projects/{}/members/{}': adminAgain,
  // "Oneself may leave": any member may try.
  'DELETE /projects/{}/members/{}': { who: 'viewer', secondFactor: 'within 15 minutes' },
  'GET /projects/{}/api-keys': { who: 'admin', auditors: true },
  'POST /projects/{}/api-keys': adminAgain,
  'DELETE /projects/{}/api-keys/{}': { who: 'admin' },

  'POST /projects/{}/storages': { ...adminAgain, entitlement: true, isCreateStorage: true },
  'GET /projects/{}/storages': { ...viewerReads, keys: 'storage:read' },
  'GET /projects/{}/storages/{}': { ...viewerReads, keys: 'storage:read' },
  'PATCH /projects/{}/storages/{}': adminAgain,
  'DELETE /projects/{}/storages/{}': adminAgain,
  'PUT /projects/{}/storages/{}/credentials': adminAgain,
  'POST /projects/{}/storages/{}/test': { ...adminAgain, keys: 'storage:test' },
  'POST /projects/{}/storages/{}/default': adminAgain,
  'POST /projects/{}/storages/{}/disable': adminAgain,
  'POST /projects/{}/storages/{}/enable': adminAgain,
  'GET /projects/{}/storages/{}/delivery': { ...viewerReads, keys: 'storage:read' },
  'PUT /projects/{}/storages/{}/delivery': adminAgain,

  'POST /projects/{}/assets': editorWrites,
  'GET /projects/{}/assets': { ...viewerReads, keys: 'asset:read' },
  'GET /projects/{}/assets/{}': { ...viewerReads, keys: 'asset:read' },
  'PATCH /projects/{}/assets/{}': editorWrites,
  'DELETE /projects/{}/assets/{}': editorWrites,
  'POST /projects/{}/assets/{}/upload-url': editorWrites,
  // No GET, so not for auditors.
  'POST /projects/{}/assets/{}/media': { who: 'viewer', keys: 'asset:read' },

  'POST /projects/{}/shares': editorShares,
  'GET /projects/{}/shares': { ...viewerReads, keys: 'share:read' },
  'GET /projects/{}/shares/{}': { ...viewerReads, keys: 'share:read' },
  'PATCH /projects/{}/shares/{}': editorShares,
  'DELETE /projects/{}/shares/{}': editorShares,
  'GET /projects/{}/shares/{}/accesses': { ...viewerReads, keys: 'share:read' },
  'POST /shares/{}/verify': anybody,
  'POST /shares/{}/media': anybody,
  'GET /s/{}': anybody,

  'GET /plans': anybody,
  'POST /orders': user,
  'GET /orders': user,
  'GET /orders/{}': user,
  'POST /orders/{}/cancel': user,
  'GET /projects/{}/orders': { ...viewerReads, keys: 'order:read' },

  'POST /payment/webhooks/{}': anybody,
  'GET /payment/webhooks/{}': anybody,

  'GET /admin/payments/unmatched': { who: 'operator' },
  'GET /admin/payments/review': { who: 'operator' },
  'POST /admin/payments/{}/resolve': { who: 'operator' },
  'POST /admin/payments/unmatched/dismiss': { who: 'operator' },
  'GET /admin/payments/{}': { who: 'operator' },
  'GET /admin/orders/{}': { who: 'operator' },

  'GET /internal/peer-list': { who: 'agent' },
};

/** Let through, or refused with a status and a code. */
export type Verdict = 'admitted' | `${number} ${string}`;

/** What the rule says of a situation. */
export function verdictOf(rule: Rule, situation: Situation): Verdict {
  if (rule.who === 'anybody') return 'admitted';
  const { credential, place } = situation;
  if (rule.who === 'agent') return credential === 'agent secret' ? 'admitted' : '401 unauthorized';

  // Authentication.
  const refusal = unauthenticated[credential];
  if (refusal !== undefined) return refusal;
  // The id in the path.
  if (place === 'malformed id') return rule.isCreateStorage ? '400 invalid_request' : '404 not_found';
  return credential === 'session' ? sessionVerdict(rule, situation) : keyVerdict(rule, situation);
}

/** "`X-API-Key` present and bad is 401 even beside a good JWT." */
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
  // "API keys pass" where a project requires two-factor authentication.
  return scope === rule.keys ? 'admitted' : '403 insufficient_scope';
}

function sessionVerdict(rule: Rule, situation: Situation): Verdict {
  const { platform, place } = situation;
  if (!isProjectRule(rule)) {
    const mayOperate = rule.who !== 'operator' || platform === 'operator' || platform === 'both';
    return mayOperate ? (secondFactorVerdict(rule, situation) ?? 'admitted') : '403 insufficient_role';
  }
  // Membership; an unknown project is "not a member". Then the role, the second factor, and the entitlement.
  if (typeof place !== 'object') return notMember(rule);
  return (
    membershipVerdict(rule, situation, place) ??
    secondFactorVerdict(rule, situation, place) ??
    (rule.entitlement === true && !place.entitled ? '403 entitlement_required' : 'admitted')
  );
}

function membershipVerdict(rule: Rule, { role, platform }: Situation, { whose }: Place): Verdict | null {
  const auditor = platform === 'auditor' || platform === 'both';
  if (rule.auditors === true && auditor) return null;
  if (whose === 'foreign' || role === 'none') return notMember(rule);
  return roles.indexOf(role) < roles.indexOf(rule.who) ? '403 insufficient_role' : null;
}

function notMember(rule: Rule): Verdict {
  return rule.isCreateStorage ? '403 forbidden' : '404 not_found';
}

function secondFactorVerdict(rule: Rule, { totp }: Situation, place?: Place): Verdict | null {
  const required = '403 two_factor_required';
  if (totp === 'off') return place?.requires2fa === true ? required : null;
  if (rule.secondFactor === 'not yet needed') return null;
  if (totp === 'on, never passed') return required;
  if (totp === 'on, passed 15:01 ago' && rule.secondFactor === 'within 15 minutes') return required;
  return null;
}
