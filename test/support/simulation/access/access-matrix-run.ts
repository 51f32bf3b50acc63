import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { z } from 'zod';
import type { Route } from '../../../../src/http/route.js';
import { ignoredQuery } from '../../../../src/http/route-spec.js';
import { makeSeededRandom } from '../../fakes/clock.js';
import { type RawReply, takeReply } from '../../clients/http-socket.js';
import { startTestService } from '../../servers/http-service.js';
import { rules, verdictOf, type Rule, type Verdict } from './access-rules.js';
import { situationsFor, type Situation } from './access-situations.js';
import { makeAccessWorld, type AccessWorld } from './access-world.js';
import { connect } from 'node:net';

interface Case {
  readonly route: Route;
  readonly situation: Situation;
  readonly request: PipelinedRequest;
  readonly expected: Verdict;
}

/** A small share draws about this number of a route's situations. Paths without a project have few. */
const drawnMin = 5;

const unlimited = { limit: 1_000_000, seconds: 1 };

/**
 * Calls every route in every situation, or in a share of them that the seed selects, over HTTP and on stores in memory.
 * It compares the replies with the rules.
 * @returns the number of calls
 */
export async function runAccessMatrix(
  t: ExecutionContext,
  { share, seed }: { readonly share: number; readonly seed: number },
): Promise<number> {
  const service = await startTestService(t, {
    rates: {
      session: unlimited,
      api_key: unlimited,
      wrong_api_key: unlimited,
      wrong_agent_secret: unlimited,
      playlist: unlimited,
    },
    logger: pino({ level: 'silent' }),
  });
  const world = await makeAccessWorld(service);
  const random = makeSeededRandom(seed);
  const cases = service.routes.flatMap((route) => {
    const rule = rules[ruleName(route)];
    if (rule === undefined) throw new Error(`no rule for ${ruleName(route)}`);
    const situations = situationsFor(route.path);
    const chance = Math.max(share, drawnMin / situations.length);
    return situations
      .filter(() => share === 1 || random() < chance)
      .map((situation): Case => ({ route, situation, ...caseFor(world, route, rule, situation) }));
  });
  const problems: string[] = [];
  for (let from = 0; from < cases.length; from += batch) {
    const some = cases.slice(from, from + batch);
    const replies = await askInPipeline(
      service.server.port,
      some.map(({ request }) => request),
    );
    some.forEach((one, index) => problems.push(...problemsOf(one, replies[index])));
  }
  t.deepEqual(problems.slice(0, 20), [], `${problems.length} of ${cases.length} calls`);
  return cases.length;
}

/** Requests in one pipeline: enough to be fast, and few enough to fit any buffer. */
const batch = 250;

/** Returns method and path in the spelling of `rules`. */
export function ruleName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path.replace(/^\/api\/v1/, '').replaceAll(/:\w+/g, '{}')}`;
}

/** A repeated parameter. Every route that reads its query refuses it with 400 after the access checks, which this test is about. */
const doubled = '?twice=1&twice=1';

/**
 * Makes a request that changes nothing even if it is admitted. A GET of an existing resource is answered. Every other
 * request is refused after the access checks, because of its body's type or its query.
 */
function caseFor(
  world: AccessWorld,
  route: Route,
  rule: Rule,
  situation: Situation,
): Pick<Case, 'request' | 'expected'> {
  const { path, known } = world.pathFor(route.path, situation);
  const expected = verdictOf(rule, situation);
  const headers = world.headersFor(situation);
  const { method } = route;
  if (takesBody(route)) {
    const text = { ...headers, 'content-type': 'text/plain' };
    return { expected, request: { method, path, headers: text, body: 'x' } };
  }
  // The calls that read the audit log need a signed log, or a query. So does a call with a required parameter.
  const readsAudit = rule.who === 'auditor' || rule.keys === 'audit:read';
  const needsQuery = !route.request.query.safeParse({}).success;
  const harmless = method === 'GET' && known && !readsAudit && !needsQuery;
  return { expected, request: { method, path: harmless ? path : path + doubled, headers } };
}

function takesBody({ request }: Route): boolean {
  return !(request.body instanceof z.ZodUndefined);
}

const errorBody = z.strictObject({ code: z.string(), message: z.string(), reason: z.string().optional() });

function problemsOf({ route, situation, request, expected }: Case, reply: RawReply | undefined): string[] {
  if (reply === undefined) return ['no reply'];
  const { status, text } = reply;
  const error = status < 400 ? null : errorBody.safeParse(JSON.parse(text));
  if (error?.success === false) return [`${ruleName(route)}: ${status} with the body ${text}`];
  const got = isAdmitted(route, request, status, error?.data)
    ? 'admitted'
    : `${status} ${error?.data.code ?? ''}`;
  return got === expected
    ? []
    : [`${ruleName(route)} ${JSON.stringify(situation)}: ${got}, expected ${expected}`];
}

function isAdmitted(
  route: Route,
  { path }: PipelinedRequest,
  status: number,
  error: z.infer<typeof errorBody> | undefined,
): boolean {
  // A route that accepts any bytes can refuse only its path.
  if (route.raw !== undefined) return error?.code === 'not_found';
  if (takesBody(route)) return error?.code === 'unsupported_media_type';
  if (route.request.query === ignoredQuery) return status === 200 || error?.code === 'not_found';
  if (path.endsWith(doubled)) return error?.message.startsWith('query.') === true;
  return status === 200;
}

interface PipelinedRequest {
  readonly method: string;
  /** The path and query as they are sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Sends requests in a pipeline on one connection (RFC 9112, 9.3.2). This costs a fraction of separate requests, for
 * tests that send thousands. Replies come in the order of the requests. No request may be a HEAD. Rejects when the
 * connection ends early, or when no byte comes for a minute.
 */
function askInPipeline(port: number, requests: readonly PipelinedRequest[]): Promise<readonly RawReply[]> {
  const replies: RawReply[] = [];
  return new Promise((resolve, reject) => {
    if (requests.length === 0) {
      resolve([]);
      return;
    }
    const socket = connect({ port, host: '127.0.0.1' });
    let received = Buffer.alloc(0);
    const fail = (why: string): void => {
      socket.destroy();
      const next = requests[replies.length];
      reject(new Error(`${why}, waiting for ${next?.method ?? ''} ${next?.path ?? ''}`));
    };
    socket.setTimeout(600_000, () => fail('no answer within ten minutes'));
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => fail('the connection ended early'));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let next = takeReply(received); next !== null; next = takeReply(received)) {
        replies.push(next.reply);
        received = received.subarray(next.length);
      }
      if (replies.length < requests.length) return;
      resolve(replies);
      socket.removeAllListeners('close').destroy();
    });
    for (const request of requests) socket.write(render(request));
  });
}

function render({ method, path, headers, body }: PipelinedRequest): string {
  const lines = Object.entries({
    host: 'localhost',
    ...headers,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}
