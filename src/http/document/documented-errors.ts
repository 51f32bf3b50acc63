import { z } from 'zod';
import { errorStatus, type ErrorCode } from '../replies/error-codes.js';
import { chargesWork } from '../access/access.js';
import type { Route } from '../route.js';
import { needOf, noFactors } from '../../areas/accounts/domain/guard.js';

const ofToken = ['unauthorized', 'invalid_token', 'token_expired', 'two_factor_required'] as const;

const ofAccess: Readonly<Record<Route['access']['kind'], readonly ErrorCode[]>> = {
  public: [],
  agent: ['unauthorized', 'agent_secret_not_configured', 'rate_limited'],
  session: [...ofToken, 'api_key_not_allowed'],
  operator: [...ofToken, 'api_key_not_allowed', 'insufficient_role'],
  auditor: [...ofToken, 'api_key_not_allowed', 'insufficient_role'],
  project: [...ofToken, 'insufficient_role'],
};

/** Returns the errors of a route by status: its own, and those of the shell that follow from its declaration. */
export function documentedErrors(route: Route): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = new Set<ErrorCode>([...ofAccess[route.access.kind], ...ofShell(route), ...route.errors]);
  const byStatus = new Map<number, ErrorCode[]>();
  const add = (status: number, code: ErrorCode): void => {
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  };
  for (const code of codes) add(errorStatus[code], code);
  // The server sends these before it knows a route, on every path.
  for (const status of [408, 414, 431]) add(status, 'invalid_request');
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

function ofBody({ request, raw }: Route): readonly ErrorCode[] {
  if (request.body instanceof z.ZodUndefined) return [];
  return raw === undefined ? ['invalid_json', 'unsupported_media_type'] : ['unsupported_media_type'];
}

/** The errors of every call that reads or writes. */
function ofStores({ method }: Route): readonly ErrorCode[] {
  return method === 'GET'
    ? ['store_unavailable', 'overloaded']
    : ['document_too_large', 'store_unavailable', 'outcome_unknown', 'overloaded'];
}

function needsFreshSignIn({ access, guards }: Route): boolean {
  if (guards !== undefined) return true;
  return 'action' in access && needOf(access.action, noFactors).kind === 'fresh-sign-in';
}

function ofRepetition({ idempotent, isGone }: Route): readonly ErrorCode[] {
  if (idempotent === undefined) return [];
  return isGone === undefined ? ['idempotency_key_reused'] : ['idempotency_key_reused', 'conflict'];
}

function ofShell(route: Route): readonly ErrorCode[] {
  const codes: ErrorCode[] = ['invalid_request', 'payload_too_large', 'internal_error'];
  if (route.always !== true) codes.push(...ofStores(route));
  codes.push(...ofBody(route));
  if (needsFreshSignIn(route)) codes.push('reauthentication_required');
  if (route.limit !== undefined || chargesWork(route.access)) codes.push('rate_limited');
  codes.push(...ofRepetition(route));
  if (route.ifMatch === true) codes.push('precondition_failed');
  if (route.access.kind === 'project') {
    const { apiKey, onMissing, entitlement } = route.access;
    codes.push(onMissing, apiKey === 'refused' ? 'api_key_not_allowed' : 'insufficient_scope');
    if (entitlement !== undefined) codes.push('entitlement_required');
  }
  if (route.path.includes(':') && (route.access.kind !== 'project' || route.access.badId === 'not_found')) {
    codes.push('not_found');
  }
  return codes;
}
