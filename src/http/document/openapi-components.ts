import { ifMatchPattern } from '../replies/reply.js';
import { idempotencyKeyPattern } from '../server/exchange.js';
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
  const need = needOf(action, { ...noFactors, totp: true, passkey: true });
  const without = needOf(action, noFactors);
  if (need.kind === 'nothing') return ' Open before a second factor is passed.';
  // The description of the document says what the platform roles need.
  if (need.kind === 'passed') return '';
  const orSignIn = without.kind === 'fresh-sign-in';
  if ('factor' in need && need.factor === 'totp')
    return ` Needs a fresh factor${orSignIn ? ' or sign-in' : ''}.`;
  return ` Needs the strongest factor${orSignIn ? ' or a sign-in' : ''}, fresh.`;
}

/** The value of a header is a text. */
const count = { type: 'string', pattern: '^[0-9]+$' } as const;

export const components = {
  securitySchemes: {
    session: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'The access token of registration or sign-in.',
    },
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-API-Key',
      description: 'A project API key. When it is present, it alone decides.',
    },
    agentSecret: { type: 'apiKey', in: 'header', name: 'X-Agent-Secret' },
  },
  headers: {
    ETag: { required: true, schema: { type: 'string', pattern: '^(W/)?".+"$' } },
    Location: { required: true, schema: { type: 'string', pattern: '^/' } },
    'Retry-After': {
      required: true,
      description: 'Seconds to wait.',
      schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
    },
    'RateLimit-Limit': { description: 'Requests that the limit allows at once.', schema: count },
    'RateLimit-Remaining': { description: 'Requests that it still allows.', schema: count },
    'RateLimit-Reset': {
      description: 'Seconds until all of it is free again; on 429 as `Retry-After`.',
      schema: count,
    },
  },
  parameters: {
    'Idempotency-Key': {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Makes the request safe to repeat for 24 hours: the same key and body give the same reply. Only the ' +
        'verification of a share runs again, and counts one use in all. A repetition waits for a request that is ' +
        'under way. With another body, 409 `idempotency_key_reused`.',
      schema: { type: 'string', pattern: idempotencyKeyPattern.source, maxLength: 255 },
    },
    'If-Match': {
      name: 'If-Match',
      in: 'header',
      required: false,
      description:
        'The entity tag that the change is based on, or several, strong or weak; 412 when the resource has none of them. `*` is any state.',
      schema: { type: 'string', pattern: ifMatchPattern.source },
    },
    'If-None-Match': {
      name: 'If-None-Match',
      in: 'header',
      required: false,
      description: 'Entity tags that the caller holds; 304 when one is current.',
      schema: { type: 'string' },
    },
  },
} as const;

export function headerRef(name: keyof typeof components.headers): Record<string, { readonly $ref: string }> {
  return { [name]: { $ref: `#/components/headers/${name}` } };
}

export function parameterRef(name: keyof typeof components.parameters): { readonly $ref: string } {
  return { $ref: `#/components/parameters/${name}` };
}
