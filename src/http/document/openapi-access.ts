import type { Policy } from '../access/access.js';
import { type GuardedAction, needOf, noFactors } from '../../areas/accounts/domain/guard.js';
import type { Json } from './openapi-texts.js';

/**
 * Returns the security requirements of a policy (OpenAPI 3.1, 4.8.30): none for public routes. An operation without the field has
 * those of the document, a session.
 */
export function securityOf(access: Policy): Json {
  switch (access.kind) {
    case 'public':
      return { security: [] };
    case 'agent':
      return { security: [{ agentSecret: [] }] };
    case 'project':
      return access.apiKey === 'refused' ? {} : { security: [{ session: [] }, { apiKey: [] }] };
    case 'session':
    case 'operator':
    case 'auditor':
      return {};
  }
}

/** Says for people who may call a route with the policy. The description of the document explains the terms. */
export function describeAccess(access: Policy): string {
  switch (access.kind) {
    case 'public':
      return 'Access: everyone.';
    case 'agent':
      return 'Access: agents.';
    case 'session':
      return `Access: signed-in users.${describeGuard(access.action)}`;
    case 'operator':
      return `Access: the platform role \`operator\`.${describeGuard(access.action)}`;
    case 'auditor':
      return `Access: the platform role \`auditor\`.${describeGuard(access.action)}`;
    case 'project': {
      const { role, apiKey, auditors, entitlement } = access;
      const admitted = [
        role === 'owner' ? 'owners of the project' : `role \`${role}\` or above`,
        ...(auditors === 'admitted' ? ['platform auditors'] : []),
        ...(apiKey === 'refused' ? [] : [`API keys with \`${apiKey}\``]),
      ];
      const keys = apiKey === 'refused' ? ' API keys are refused.' : '';
      const needs = entitlement === undefined ? '' : ` The project needs the entitlement \`${entitlement}\`.`;
      return `Access: ${admitted.join(', ')}.${keys}${needs}${describeGuard(access.action)}`;
    }
  }
}

/** Says what the session must have proved: with both factors in the account, and without any. */
function describeGuard(action: GuardedAction): string {
  const need = needOf(action, { totp: true, passkey: true, recoveryCodes: 1 });
  const without = needOf(action, noFactors);
  if (need.kind === 'nothing') return ' Open before a second factor is passed.';
  // The description of the document says what the platform roles need.
  if (need.kind === 'passed') return '';
  const orSignIn = without.kind === 'fresh-sign-in';
  if ('factor' in need && need.factor === 'totp')
    return ` Needs a fresh factor${orSignIn ? ' or sign-in' : ''}.`;
  return ` Needs the strongest factor${orSignIn ? ' or a sign-in' : ''}, fresh.`;
}
