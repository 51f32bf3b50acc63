import { z } from 'zod';
import { documentedErrors, pascal, publishErrors } from './openapi-responses.js';
import { components, describeAccess, headerRef, parameterRef, securityOf } from './openapi-components.js';
import { exampleOfPathId, exampleOfText } from './openapi-examples.js';
import { type Json, describeApi, tagDescriptions } from './openapi-texts.js';
import { publishBody, publishSchema } from './openapi-schemas.js';
import { noContent, type ReplySpec } from '../replies/reply.js';
import type { Route } from '../route.js';

export interface OpenApiDocument extends Json {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string } & Json;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Json & { readonly schemas: Json; readonly responses: Json };
}

export interface OpenApiOperation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

/** The components that operations refer to. The functions that publish operations add to them. */
type Published = { readonly schemas: Json; readonly responses: Json; readonly parameters: Json };

/** Describes the routes as an OpenAPI 3.1 document, from the same schemas that validate. */
export function makeOpenApi(
  routes: readonly Route[],
  input: {
    readonly version: string;
    readonly publicUrl: string;
    /** The rules for a new password, for people. */
    readonly passwordRules: string;
  },
): OpenApiDocument {
  const { version, publicUrl, passwordRules } = input;
  const published: Published = { schemas: {}, responses: {}, parameters: { ...components.parameters } };
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route, published);
  }
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stowage',
      version,
      description: describeApi(passwordRules),
      contact: { name: 'The operator of this service', url: publicUrl },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ session: [] }],
    tags: tags.map((name) => ({ name, description: tagDescriptions[name] ?? name })),
    paths,
    components: { ...components, ...published },
  };
}

function operationOf(route: Route, published: Published): OpenApiOperation {
  const { name, tag, summary, description = '', request, access } = route;
  const parameters = [
    ...fieldsAsParameters(request.params, 'path', published),
    ...fieldsAsParameters(request.query, 'query', published),
    ...headerParameters(route),
  ];
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: [description, describeAccess(access)].filter((part) => part !== '').join('\n\n'),
    ...securityOf(access),
    // Codes of the caller's protocol, which errors of any status have.
    ...(route.raw === undefined || route.raw.errorCodes.length === 0
      ? {}
      : { 'x-codes': route.raw.errorCodes }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(request.body instanceof z.ZodUndefined
      ? {}
      : { requestBody: route.raw === undefined ? requestBodyOf(route, published) : anyBody }),
    responses: responsesOf(route, published),
  };
}

const anyBody: Json = {
  required: true,
  content: {
    'application/json': { schema: { type: 'object', examples: [{ id: 'evt_example' }] } },
    '*/*': { schema: {} },
  },
};

function requestBodyOf({ name, request: { body } }: Route, { schemas }: Published): Json {
  return {
    ...(body.safeParse({}).success ? {} : { required: true }),
    content: {
      'application/json': { schema: publishBody(body, 'input', { name: `${pascal(name)}Request`, schemas }) },
    },
  };
}

function responsesOf(route: Route, published: Published): Record<string, Json> {
  const responses: Record<string, Json> = {};
  for (const [status, reply] of Object.entries(route.replies)) {
    responses[status] = successOf(reply, Number(status), route, published);
  }
  if (route.entityTag === true && route.method === 'GET') {
    published.responses['NotModified'] = notModified;
    responses['304'] = { $ref: '#/components/responses/NotModified' };
  }
  return { ...responses, ...publishErrors(documentedErrors(route), published) };
}

const notModified: Json = {
  description: 'Not modified: `If-None-Match` names the current entity tag.',
  headers: headerRef('ETag'),
};

function successOf(
  { description, schema, mediaType = 'application/json' }: ReplySpec,
  status: number,
  route: Route,
  { schemas }: Published,
): Json {
  const name = `${pascal(route.name)}Reply`;
  const contentOf = (): Json =>
    route.raw === undefined
      ? {
          [mediaType]: {
            schema: publishBody(schema, 'output', { name, schemas }),
            ...exampleOfText(mediaType),
          },
        }
      : {
          'application/json': { schema: {} },
          'text/plain': { schema: { type: 'string' }, example: 'success' },
        };
  const isTagged = route.entityTag === true;
  return {
    description,
    ...(isTagged
      ? { headers: { ...headerRef('ETag'), ...(status === 201 ? headerRef('Location') : {}) } }
      : {}),
    ...(schema === noContent ? {} : { content: contentOf() }),
  };
}

function fieldsAsParameters(
  schema: z.ZodType,
  where: 'path' | 'query',
  { schemas, parameters }: Published,
): Json[] {
  const { properties = {}, required = [] } = publishSchema(schema, 'input', schemas);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties as Record<string, Json>).map(
    ([name, { description, param, ...field }]) => {
      const parameter = {
        name,
        in: where,
        ...(where === 'path' || needed.includes(name) ? { required: true } : {}),
        ...(description === undefined ? {} : { description }),
        schema: field,
      };
      const id =
        (param as { readonly id: string } | undefined)?.id ?? (isPathId(parameter) ? name : undefined);
      if (id === undefined) return parameter;
      parameters[id] = isPathId(parameter) ? { ...parameter, ...exampleOfPathId(field, name) } : parameter;
      return { $ref: `#/components/parameters/${id}` };
    },
  );
}

/** Every parameter of a path that is a UUID, or any text, stands once, under its name. */
function isPathId({ in: where, schema }: { readonly in: string; readonly schema: Json }): boolean {
  const { type, format, ...rest } = schema;
  const isPlain = type === 'string' && (format === undefined || format === 'uuid');
  return where === 'path' && isPlain && Object.keys(rest).length === 0;
}

function headerParameters(route: Route): Json[] {
  return [
    ...(route.idempotent !== undefined ? [parameterRef('Idempotency-Key')] : []),
    ...(route.ifMatch === true ? [parameterRef('If-Match')] : []),
    ...(route.entityTag === true && route.method === 'GET' ? [parameterRef('If-None-Match')] : []),
  ];
}
