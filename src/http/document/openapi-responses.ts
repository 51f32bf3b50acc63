import { STATUS_CODES } from 'node:http';
import { fieldProblemCodes } from '../../validation/field-problems.js';
import { problemMediaType } from '../replies/error-body.js';
import { type ErrorCode, errorStatus } from '../replies/error-codes.js';
import { headerRef } from './openapi-components.js';
import type { Json } from './openapi-texts.js';
import { refTo } from './openapi-schemas.js';
import { z } from 'zod';
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
  if (route.path.includes(':') && (route.access.kind !== 'project' || route.access.badId === 'not_found'))
    codes.push('not_found');
  return codes;
}

/** The body of every error (docs/api.md#25-error-body). */
const errorSchema: Json = {
  type: 'object',
  description: 'The body of every error.',
  properties: {
    code: {
      type: 'string',
      description:
        'For programs. The description of a response lists its codes; later releases may add codes.',
    },
    message: { type: 'string', description: 'For people. It names the fields that are wrong.' },
    reason: { type: 'string', description: 'Tells cases of one code apart, where a call says so.' },
  },
  required: ['code', 'message'],
  examples: [{ code: 'not_found', message: 'the project does not exist' }],
};

/** The body of every error for a client that asks for it (RFC 9457). */
const problemSchema: Json = {
  type: 'object',
  description: 'The body of an error for a client that asks for `application/problem+json` (RFC 9457).',
  properties: {
    type: { type: 'string', description: 'A URI that names the code.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'The `message` of `Error`.' },
    code: { type: 'string', description: 'The `code` of `Error`.' },
    reason: { type: 'string', description: 'The `reason` of `Error`.' },
    errors: { type: 'array', items: refTo('FieldProblem'), description: 'The fields that are wrong.' },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'errors'],
};

const fieldProblemSchema: Json = {
  type: 'object',
  properties: {
    field: {
      type: 'string',
      description: 'Its path in the body, or after `path.`, `query.` or `header.`. Empty: the body itself.',
    },
    code: {
      type: 'string',
      description: `One of ${fieldProblemCodes.join(', ')}. Later releases may add codes.`,
    },
    message: { type: 'string' },
  },
  required: ['field', 'code', 'message'],
  examples: [{ field: 'name', code: 'missing', message: 'name is missing' }],
};

/** Both forms of the body, between which `Accept` decides. */
const errorContent: Json = {
  'application/json': { schema: refTo('Error') },
  [problemMediaType]: { schema: refTo('Problem') },
};

/** The codes without which a status is rare. A response with all of them has the short name of the status. */
const usual: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: ['invalid_request', 'invalid_json'],
  401: ['unauthorized', 'invalid_token', 'token_expired'],
  403: ['insufficient_role', 'insufficient_scope', 'api_key_not_allowed', 'two_factor_required'],
  404: ['not_found'],
  408: ['invalid_request'],
  409: ['conflict', 'document_too_large'],
  412: ['precondition_failed'],
  413: ['payload_too_large'],
  414: ['invalid_request'],
  415: ['unsupported_media_type'],
  429: ['rate_limited'],
  431: ['invalid_request'],
  500: ['internal_error'],
  503: ['overloaded', 'store_unavailable', 'outcome_unknown'],
};

/** Statuses that every operation may answer with their usual codes. They stand once, in the response `Usual`. */
const everywhere: readonly number[] = [400, 401, 403, 404, 408, 412, 413, 414, 415, 429, 431, 500, 503];

const usualResponse: Json = {
  description:
    'What every operation may answer. ' +
    everywhere
      .map((status) => `${status}: ${(usual[status] ?? []).map((code) => `\`${code}\``).join(', ')}`)
      .join('; ') +
    '. 401 and 403 where a caller must prove who it is, 404 where the path has a parameter, 412 where `If-Match` is taken. 429 and 503 have `Retry-After`.',
  headers: {
    'Retry-After': { schema: { type: 'string' }, description: 'Seconds to wait.' },
    ...headerRef('RateLimit-Limit'),
    ...headerRef('RateLimit-Remaining'),
    ...headerRef('RateLimit-Reset'),
  },
  content: errorContent,
  'x-codes': Object.fromEntries(everywhere.map((status) => [status, usual[status]])),
};

const order = Object.keys(errorStatus);

/**
 * Publishes the errors of an operation, and returns its responses by status. Operations with the same codes share one.
 * @param published the components; the function adds to them
 */
export function publishErrors(
  errors: Iterable<readonly [status: number, codes: readonly string[]]>,
  published: { readonly responses: Json; readonly schemas: Json },
): Record<string, Json> {
  Object.assign(published.schemas, {
    Error: errorSchema,
    Problem: problemSchema,
    FieldProblem: fieldProblemSchema,
  });
  published.responses['Usual'] = usualResponse;
  const all = [...errors];
  const special = all.filter(([status, codes]) => !isUsual(status, codes));
  // Readers of the document expect a status from 400 to 499 in every operation.
  const hasRefusal = special.some(([status]) => status < 500);
  const own = hasRefusal ? special : [...all.filter(([status]) => status === 400), ...special];
  return {
    ...Object.fromEntries(
      own.map(([status, codes]) => [status, publishError(status, codes, published.responses)]),
    ),
    default: { $ref: '#/components/responses/Usual' },
  };
}

function isUsual(status: number, codes: readonly string[]): boolean {
  const base: readonly string[] = usual[status] ?? [];
  return everywhere.includes(status) && codes.every((code) => base.includes(code));
}

function publishError(status: number, codes: readonly string[], responses: Json): Json {
  const rank = (code: string): number => (order.includes(code) ? order.indexOf(code) : order.length);
  const sorted = [...codes].sort((a, b) => rank(a) - rank(b));
  const name = nameOf(status, sorted);
  responses[name] = {
    description: `${STATUS_CODES[status] ?? 'Error'}: ${sorted.map((code) => `\`${code}\``).join(', ')}`,
    ...headersOf(status),
    content: errorContent,
  };
  return { $ref: `#/components/responses/${name}` };
}

function headersOf(status: number): Json {
  return status === 429 || status === 503 ? { headers: headerRef('Retry-After') } : {};
}

/** The name follows from status and codes alone, so a route is described the same beside any other routes. */
function nameOf(status: number, codes: readonly string[]): string {
  // Most reads have it alone, for readers that expect a status from 400 to 499, so the name is short.
  if (codes.join() === 'invalid_request') return 'Invalid';
  const base = (usual[status] ?? []) as readonly string[];
  const reason = pascal((STATUS_CODES[status] ?? 'Error').replaceAll(/[^A-Za-z]+/g, '_'));
  const hasAll = base.length > 0 && base.every((code) => codes.includes(code));
  const rest = (hasAll ? codes.filter((code) => !base.includes(code)) : codes).map(pascal);
  // A code may have the name of its status, such as `conflict`.
  const named = (hasAll ? [reason, ...rest] : [`Only${rest[0] ?? ''}`, ...rest.slice(1)]).join('Or');
  // Generators make a type of each name, and several codes in full make it longer than a line.
  return rest.length > 1 ? named.replaceAll(/(?:Required|NotAllowed)(?=Or|$)/g, '') : named;
}

/** `operationId` or `snake_case` as a name of a component. */
export function pascal(name: string): string {
  return name.replaceAll(
    /(?:^|_)([A-Za-z])([A-Z]*)/g,
    (_all, first: string, rest: string) => first.toUpperCase() + rest.toLowerCase(),
  );
}
