import type { ExecutionContext } from 'ava';
import { makeSeededRandom } from '../../fakes/clock.js';
import { makeDirectory } from '../../servers/embedded-directory.js';
import { asJson } from '../../clients/http-contract.js';
import { makeHttpLane, type RawReply } from '../../clients/http-socket.js';
import { startInProcess, type ServiceInProcess } from '../../servers/service-in-process.js';
import { agentSecret, makeCallers, type FuzzCaller } from './callers.js';
import { makeDice } from './shapes-and-dice.js';
import { makeRequest, makeTarget, type FuzzRequest, type Target } from './requests.js';
import { z } from 'zod';
import { documentedErrors } from '../../../../src/http/document/openapi-responses.js';
import type { ReplySpec } from '../../../../src/http/replies/reply.js';
import type { Route } from '../../../../src/http/route.js';

/** The number of requests in flight at the same time. */
const lanes = 8;
/** Callers lose their access by their own requests. A lane replaces them after this number of requests, or earlier. */
const requestsPerGeneration = 400;
const requestsPerGenerationMin = 50;
const failuresShown = 10;

/**
 * Sends many requests, made from the routes' schemas, to the whole service on embedded stores. It checks every reply
 * against the declaration of its route. All choices follow from the seed; the service chooses ids and times.
 * @returns the number of replies by route and status
 */
export async function fuzz(
  t: ExecutionContext,
  { requests, seed }: { readonly requests: number; readonly seed: number },
): Promise<ReadonlyMap<string, number>> {
  const { directory, remove } = makeDirectory();
  // Mail counts as configured. No reaction runs here, so no mail is sent.
  const environment = {
    NODE_AGENT_SECRET: agentSecret,
    SMTP_URL: 'smtp://127.0.0.1:9',
    PASSKEY_RP_ID: 'localhost',
    PASSKEY_ORIGINS: 'http://localhost',
  };
  const service = await startInProcess({ directory, environment });
  try {
    const run: Run = {
      service,
      targets: service.routes.map(makeTarget),
      checker: makeReplyChecker(service.routes),
      counts: new Map(),
      failures: [],
    };
    const each = Math.ceil(requests / lanes);
    await Promise.all(
      Array.from({ length: lanes }, (_, lane) => runLane(run, lane, each, seed * lanes + lane)),
    );
    t.deepEqual(run.failures, [], `seed ${seed}`);
    await expectHealth(t, service);
    return run.counts;
  } finally {
    await service.close();
    remove();
  }
}

interface Run {
  readonly service: ServiceInProcess;
  readonly targets: readonly Target[];
  readonly checker: ReplyChecker;
  readonly counts: Map<string, number>;
  readonly failures: string[];
}

async function runLane(run: Run, lane: number, requests: number, seed: number): Promise<void> {
  const { service, targets, checker } = run;
  const dice = makeDice(makeSeededRandom(seed));
  const randomBytes = (size: number): Buffer =>
    Buffer.from(Array.from({ length: size }, () => dice.below(256)));
  const http = makeHttpLane(Number(new URL(service.url).port));
  const weighted = byWeight(targets);
  let callers: readonly FuzzCaller[] = [];
  let lost = false;
  for (let made = 0; made < requests && run.failures.length < failuresShown; made += 1) {
    if (made % requestsPerGeneration === 0 || (lost && made % requestsPerGenerationMin === 0)) {
      callers = byWeight(await makeCallers(service, randomBytes));
      lost = false;
    }
    const caller = dice.pick(callers);
    const request = makeRequest(dice.pick(weighted), caller, dice);
    const reply = await http.ask(request.bytes, { toHead: request.method === 'HEAD' }).catch(String);
    if (typeof reply !== 'string') {
      learn(run, caller, request, reply);
      lost ||= reply.status === 401 && reply.text.includes('the session has ended');
    }
    const problems = typeof reply === 'string' ? [reply] : checker.problemsOf(request, reply);
    if (problems.length > 0) {
      const shown = request.bytes
        .toString('latin1')
        .replace(/Bearer ey[\w.-]+/, 'Bearer …')
        .slice(0, 1_000);
      run.failures.push(
        `lane ${lane}, request ${made}, ${caller.name}, ${request.kind}: ${problems.join('; ')}\n${shown}`,
      );
    }
  }
  http.close();
}

function learn(
  { checker, counts }: Run,
  { ids, words }: FuzzCaller,
  request: FuzzRequest,
  reply: RawReply,
): void {
  const route = checker.routeOf(request);
  const key = `${route?.name ?? 'no route'} ${reply.status}`;
  counts.set(key, (counts.get(key) ?? 0) + 1);
  if (route === null || reply.status >= 300 || !reply.text.startsWith('{')) return;
  const body = JSON.parse(reply.text) as unknown;
  ids.learn(route.path, request.params, body);
  // The service's descriptions would displace the other texts that a caller receives.
  if (route.tag !== 'Service') words.learn(body);
}

function byWeight<Item extends { readonly weight: number }>(items: readonly Item[]): readonly Item[] {
  return items.flatMap((item) => Array.from({ length: item.weight }, () => item));
}

/** Checks that the service still works afterwards, and that its views follow the log. */
async function expectHealth(
  t: ExecutionContext,
  { url, projections, routes }: ServiceInProcess,
): Promise<void> {
  const ready = await fetch(`${url}/readyz`);
  t.is(ready.status, 200);
  const registered = await fetch(`${url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'afterwards@example.com', password: 'Correct-Horse-7-Battery' }),
  });
  t.is(registered.status, 201);
  t.true(routes.length > 0);
  const { reached, statuses } = projections.live();
  t.true(reached);
  t.deepEqual(
    statuses
      .filter(({ state }) => state === 'stopped')
      .map(({ collection, reason }) => `${collection}: ${reason}`),
    [],
  );
}

const errorBody = z.strictObject({ code: z.string(), message: z.string().min(1).max(1_200) });

/** The 5xx that a healthy service may reply: for missing parts of the configuration. */
const specified5xx = [
  ...['mail_not_configured', 'agent_secret_not_configured', 'provider_not_configured'],
  // Before the first checkpoint.
  'nothing_signed',
];

/** Judges replies by the declarations of the routes. */
interface ReplyChecker {
  /** Returns the route that a request reaches; null if no route serves its path and method. */
  routeOf(request: FuzzRequest): Route | null;
  /** Returns the problems of a reply; empty if there are none. */
  problemsOf(request: FuzzRequest, reply: RawReply): readonly string[];
}

function makeReplyChecker(routes: readonly Route[]): ReplyChecker {
  const served = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
    parameters: route.path.split('/:').length - 1,
    errors: documentedErrors(route),
  }));
  const find = ({ method, target }: FuzzRequest) => {
    // A target in absolute form reaches the route of its path (RFC 9112, section 3.2.2).
    const named = target.replace(/^http:\/\/[^/]*/, '').split(/[?#]/, 1)[0] ?? '';
    // Links of shares, the guides and their pages, and callback paths are taken with a slash at their end.
    const path = named.replace(/^(\/guides|\/(?:s|guides|api\/v1\/payment\/webhooks)\/[^/]+)\/$/, '$1');
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
  const body = errorBody.safeParse(asJson(text));
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
  const result = schema.safeParse(mediaType === 'application/json' ? asJson(text) : text);
  return [
    ...(type === mediaType ? [] : [`the content type is ${type ?? 'missing'}`]),
    ...(result.success ? [] : [`the body does not fit its schema: ${z.prettifyError(result.error)}`]),
  ];
}
