import type { Policy, SignInAge } from '../access/access.js';
import type { Json } from './openapi-json.js';

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
      return 'Access: anybody.';
    case 'agent':
      return 'Access: agents.';
    case 'session':
      return `Access: signed-in users.${describeFreshness(access)}`;
    case 'operator':
      return `Access: the platform role \`operator\`.${access.twoFactor === 'required' ? ' Two-factor authentication is needed, passed within the last 15 minutes.' : ''}`;
    case 'auditor':
      return 'Access: the platform role `auditor`.';
    case 'project': {
      const { role, apiKey, auditors, entitlement } = access;
      const admitted = [
        role === 'owner' ? 'owners of the project' : `role \`${role}\` or above`,
        ...(auditors === 'admitted' ? ['platform auditors'] : []),
        ...(apiKey === 'refused' ? [] : [`API keys with \`${apiKey}\``]),
      ];
      const keys = apiKey === 'refused' ? ' API keys are refused.' : '';
      const needs = entitlement === undefined ? '' : ` The project needs the entitlement \`${entitlement}\`.`;
      return `Access: ${admitted.join(', ')}.${keys}${needs}${describeFreshness(access)}`;
    }
  }
}

function describeFreshness({
  twoFactor,
  signIn,
}: {
  readonly twoFactor: 'not-yet' | 'passed' | 'fresh';
  readonly signIn: SignInAge;
}): string {
  return [
    ...(twoFactor === 'not-yet' ? [' Open before two-factor authentication is passed.'] : []),
    ...(twoFactor === 'fresh' ? [' Needs a fresh second factor.'] : []),
    ...(signIn === 'any' ? [] : [' Needs a fresh sign-in.']),
  ].join('');
}
