import { ifMatchPattern } from '../replies/etag.js';
import { idempotencyKeyPattern } from '../server/exchange.js';

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
    'RateLimit-Limit': {
      description: 'Requests that the limit allows at once.',
      schema: count,
    },
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
