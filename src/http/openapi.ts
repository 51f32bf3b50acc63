import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Policy, SignInAge } from './access.js';
import { documentedErrors } from './documented-errors.js';
import { components, headerRef, parameterRef } from './openapi-components.js';
import { noContent, type ReplySpec } from './reply.js';
import type { Route } from './route.js';

export type Json = Record<string, unknown>;

export interface OpenApiDocument extends Json {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Json & { readonly schemas: Json };
}

export interface OpenApiOperation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

/** Describes the routes as an OpenAPI 3.1 document, from the same schemas that validate. */
export function makeOpenApi(
  routes: readonly Route[],
  {
    version,
    publicUrl,
    passwordRules,
  }: {
    readonly version: string;
    readonly publicUrl: string;
    /** The rules for a new password, for people. */
    readonly passwordRules: string;
  },
): OpenApiDocument {
  const schemas: Json = {};
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stowage',
      version,
      description:
        'Errors are {"code", "message"}. HEAD is served wherever GET is; a wrong method is 405 `method_not_allowed` with ' +
        '`Allow`, an unknown path 404 `not_found`. Who has two-factor authentication on is refused with 403 ' +
        '`two_factor_required` until the session has passed it. Before the service is ready, all but /healthz, /readyz, ' +
        '/openapi.json, /docs, /.well-known/jwks.json and payment callbacks answer 503.\n\n' +
        `A new password: ${passwordRules}.`,
    },
    servers: [{ url: publicUrl }],
    paths,
    components: { ...components, schemas },
  };
}

function operationOf(route: Route, schemas: Json): OpenApiOperation {
  const { name, tag, summary, description = '', request, access } = route;
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: [description, describeAccess(access)].filter((part) => part !== '').join('\n\n'),
    security: securityOf(access),
    parameters: [
      ...fieldsAsParameters(request.params, 'path', schemas),
      ...fieldsAsParameters(request.query, 'query', schemas),
      ...headerParameters(route),
    ],
    ...(request.body instanceof z.ZodUndefined
      ? {}
      : { requestBody: route.raw === undefined ? requestBodyOf(request.body, schemas) : anyBody }),
    responses: responsesOf(route, schemas),
  };
}

const anyBody: Json = {
  required: true,
  content: { 'application/json': { schema: { type: 'object' } }, '*/*': { schema: {} } },
};

function requestBodyOf(body: z.ZodType, schemas: Json): Json {
  return {
    required: !body.safeParse({}).success,
    content: { 'application/json': { schema: toJsonSchema(body, 'input', schemas) } },
  };
}

function responsesOf(route: Route, schemas: Json): Record<string, Json> {
  const responses: Record<string, Json> = {};
  for (const [status, reply] of Object.entries(route.replies)) {
    responses[status] = successOf(reply, Number(status), route, schemas);
  }
  if (route.entityTag === true && route.method === 'GET') {
    responses['304'] = {
      description: 'Not modified: `If-None-Match` names the current entity tag.',
      headers: { ...headerRef('X-Request-Id'), ...headerRef('ETag') },
    };
  }
  for (const [status, codes] of documentedErrors(route)) {
    responses[String(status)] = errorOf(status, [...codes, ...(route.raw?.errorCodes ?? [])]);
  }
  return responses;
}

function successOf(
  { description, schema, mediaType = 'application/json' }: ReplySpec,
  status: number,
  route: Route,
  schemas: Json,
): Json {
  const contentOf = (): Json =>
    route.raw === undefined
      ? { [mediaType]: { schema: toJsonSchema(schema, 'output', schemas) } }
      : { 'application/json': { schema: {} }, 'text/plain': { schema: { type: 'string' } } };
  return {
    description,
    headers: {
      ...headerRef('X-Request-Id'),
      ...(route.entityTag === true ? headerRef('ETag') : {}),
      ...(status === 201 && route.entityTag === true ? headerRef('Location') : {}),
    },
    ...(schema === noContent ? {} : { content: contentOf() }),
  };
}

function errorOf(status: number, codes: readonly string[]): Json {
  // Node's parser and time limits reply with these statuses without a request, so there is no id to send.
  const named = status !== 408 && status !== 431 && status !== 400;
  return {
    description: `${STATUS_CODES[status] ?? 'Error'}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: {
      ...(named ? headerRef('X-Request-Id') : {}),
      ...(status === 429 || status === 503 ? headerRef('Retry-After') : {}),
    },
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: {
            code: { type: 'string', enum: codes },
            message: {
              type: 'string',
              description: 'For people; names the offending field where there is one.',
            },
          },
          required: ['code', 'message'],
          additionalProperties: false,
        },
      },
    },
  };
}

function fieldsAsParameters(schema: z.ZodType, where: 'path' | 'query', schemas: Json): Json[] {
  const { properties = {}, required = [] } = toJsonSchema(schema, 'input', schemas);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties as Json).map(([name, field]) => ({
    name,
    in: where,
    required: where === 'path' || needed.includes(name),
    schema: field,
  }));
}

function headerParameters(route: Route): Json[] {
  return [
    ...(route.idempotent !== undefined ? [parameterRef('Idempotency-Key')] : []),
    ...(route.ifMatch === true ? [parameterRef('If-Match')] : []),
    ...(route.entityTag === true && route.method === 'GET' ? [parameterRef('If-None-Match')] : []),
    parameterRef('X-Request-Id'),
  ];
}

function securityOf(access: Policy): Json[] {
  switch (access.kind) {
    case 'public':
      return [];
    case 'agent':
      return [{ agentSecret: [] }];
    case 'project':
      return access.apiKey === 'refused' ? [{ session: [] }] : [{ session: [] }, { apiKey: [] }];
    case 'session':
    case 'operator':
    case 'auditor':
      return [{ session: [] }];
  }
}

function describeAccess(access: Policy): string {
  switch (access.kind) {
    case 'public':
      return 'Access: anybody.';
    case 'agent':
      return 'Access: agents, with the secret in `X-Agent-Secret`.';
    case 'session':
      return `Access: signed-in users.${describeTwoFactor(access.twoFactor)}${describeSignIn(access.signIn)}`;
    case 'operator':
      return (
        'Access: signed-in users with the platform role `operator`.' +
        (access.twoFactor === 'required'
          ? ' They need two-factor authentication, passed within the last 15 minutes.'
          : '')
      );
    case 'auditor':
      return 'Access: signed-in users with the platform role `auditor`.';
    case 'project': {
      const { role, apiKey, auditors, entitlement, twoFactor, signIn } = access;
      const members =
        role === 'owner' ? 'owners of the project' : `members of the project from the role \`${role}\` on`;
      const readers = auditors === 'admitted' ? ', and platform auditors' : '';
      const keys =
        apiKey === 'refused' ? 'API keys are refused' : `or an API key with the scope \`${apiKey}\``;
      const needs = entitlement === undefined ? '' : ` The project needs the entitlement \`${entitlement}\`.`;
      return `Access: ${members}${readers}; ${keys}.${needs}${describeTwoFactor(twoFactor)}${describeSignIn(signIn)}`;
    }
  }
}

function describeSignIn(signIn: SignInAge): string {
  return signIn === 'any'
    ? ''
    : ' Who has it off must have signed in, or called `POST /auth/reauthenticate`, within the last 15 minutes.';
}

function describeTwoFactor(twoFactor: 'not-yet' | 'passed' | 'fresh'): string {
  switch (twoFactor) {
    case 'not-yet':
      return ' Open before two-factor authentication is passed.';
    case 'passed':
      return '';
    case 'fresh':
      return ' Who has two-factor authentication on must have passed it within the last 15 minutes.';
  }
}

/** Converts a zod schema to JSON Schema (2020-12, the dialect of OpenAPI 3.1). Schemas with an id become components. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { $defs = {}, ...made } = z.toJSONSchema(schema, { io, unrepresentable: 'throw' });
  const lifted = (json: unknown): Json =>
    JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
  for (const [id, definition] of Object.entries($defs)) schemas[id] = withoutId(lifted(definition));
  // The dialect is the default of OpenAPI 3.1, so the schema need not name it.
  const { id, ...own } = lifted({ ...made, $schema: undefined });
  if (typeof id !== 'string') return own;
  schemas[id] = own;
  return { $ref: `#/components/schemas/${id}` };
}

function withoutId({ id: _id, ...schema }: Json): Json {
  return schema;
}
