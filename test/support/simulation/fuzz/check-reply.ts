import { z } from 'zod';
import { documentedErrors } from '../../../../src/http/document/openapi-responses.js';
import type { ReplySpec } from '../../../../src/http/replies/reply.js';
import type { Route } from '../../../../src/http/route.js';
import type { RawReply } from '../../clients/http-replies.js';
import type { FuzzRequest } from './requests.js';

const errorBody = z.strictObject({ code: z.string(), message: z.string().min(1).max(1_200) });

/** The 5xx that a healthy service may reply: for missing parts of the configuration. */
const specified5xx = [
  ...['mail_not_configured', 'agent_secret_not_configured', 'provider_not_configured'],
  // Before the first checkpoint.
  'nothing_signed',
];

/** Judges replies by the declarations of the routes. */
export interface ReplyChecker {
  /** Returns the route that a request reaches; null if no route serves its path and method. */
  routeOf(request: FuzzRequest): Route | null;
  /** Returns the problems of a reply; empty if there are none. */
  problemsOf(request: FuzzRequest, reply: RawReply): readonly string[];
}

export function makeReplyChecker(routes: readonly Route[]): ReplyChecker {
  const served = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
    parameters: route.path.split('/:').length - 1,
    errors: documentedErrors(route),
  }));
  const find = ({ method, target }: FuzzRequest) => {
    // A target in absolute form reaches the route of its path (RFC 9112, section 3.2.2).
    const named = target.replace(/^http:\/\/[^/]*/, '').split(/[?#]/, 1)[0] ?? '';
    // Links of shares, guides and callback paths are taken with a slash at their end.
    const path = named.replace(/^(\/(?:s|guides|api\/v1\/payment\/webhooks)\/[^/]+)\/$/, '$1');
    const asked = method === 'HEAD' ? 'GET' : method;
    const matched = served.filter(({ pattern }) => pattern.test(path));
    // A fixed path also fits a pattern: `/assets/import` fits `/assets/:assetId`. The service serves the fixed one.
    const fewest = Math.min(...matched.map(({ parameters }) => parameters));
    return matched.find(({ route, parameters }) => parameters === fewest && route.method === asked) ?? null;
  };
  return {
    routeOf: (request) => find(request)?.route ?? null,
    problemsOf: (request, reply) => {
      const found = find(request);
      if (reply.status >= 400) return problemsOfError(request, reply, found?.errors ?? unrouted);
      if (found === null) return [`${reply.status}, though no route serves this`];
      return problemsOfSuccess(request, reply, found.route);
    },
  };
}

/** The errors of requests without a route. */
const unrouted: ReadonlyMap<number, readonly string[]> = new Map([
  [400, ['invalid_request']],
  [404, ['not_found']],
  [405, ['method_not_allowed']],
  [408, ['invalid_request']],
  [413, ['payload_too_large']],
  [414, ['invalid_request']],
  [431, ['invalid_request']],
]);

function problemsOfError(
  { method }: FuzzRequest,
  { status, headers, text }: RawReply,
  documented: ReadonlyMap<number, readonly string[]>,
): readonly string[] {
  const waits = status === 429 || status === 503;
  return [
    ...(waits && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '') ? ['Retry-After is missing'] : []),
    // The parser's refusals end the connection before a request has an id.
    ...(headers.has('x-request-id') || headers.get('connection') === 'close'
      ? []
      : ['X-Request-Id is missing']),
    ...(method === 'HEAD' ? [] : problemsOfErrorBody(status, headers, text, documented)),
  ];
}

function problemsOfErrorBody(
  status: number,
  headers: RawReply['headers'],
  text: string,
  documented: ReadonlyMap<number, readonly string[]>,
): readonly string[] {
  const body = errorBody.safeParse(parse(text));
  if (!body.success) return [`the error's body is ${text.slice(0, 200)}`];
  const { code } = body.data;
  if (status >= 500 && !specified5xx.includes(code)) return [`${status} ${code}`];
  // Node's parser may refuse a request of every route.
  const refusedByParser = headers.get('connection') === 'close' && code === 'invalid_request';
  const isDocumented = documented.get(status)?.includes(code) === true;
  return refusedByParser || isDocumented ? [] : [`${status} ${code} is not documented`];
}

function problemsOfSuccess(
  { method, unacceptable }: FuzzRequest,
  { status, headers, text }: RawReply,
  route: Route,
): readonly string[] {
  const unnamed = headers.has('x-request-id') ? [] : ['X-Request-Id is missing'];
  if (status === 304) return route.entityTag === true ? unnamed : [...unnamed, '304 without entity tags'];
  const takesBody = !(route.request.body instanceof z.ZodUndefined);
  if (unacceptable && takesBody) return [`${status} to a body that no route may take`];
  const spec = route.replies[status];
  if (spec === undefined) return [...unnamed, `status ${status} is not documented`];
  return method === 'HEAD' ? unnamed : [...unnamed, ...problemsOfBody(spec, headers, text)];
}

function problemsOfBody(
  { schema, mediaType = 'application/json' }: ReplySpec,
  headers: RawReply['headers'],
  text: string,
): readonly string[] {
  if (schema instanceof z.ZodUndefined) return text === '' ? [] : ['a body where none is due'];
  const type = headers.get('content-type')?.split(';')[0];
  const result = schema.safeParse(mediaType === 'application/json' ? parse(text) : text);
  return [
    ...(type === mediaType ? [] : [`the content type is ${type ?? 'missing'}`]),
    ...(result.success ? [] : [`the body does not fit its schema: ${z.prettifyError(result.error)}`]),
  ];
}

/** Parses JSON. Returns undefined, which no schema accepts, for any other text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
