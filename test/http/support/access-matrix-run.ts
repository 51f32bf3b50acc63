import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { z } from 'zod';
import type { Route } from '../../../src/http/route.js';
import { makeSeededRandom } from '../../support/clock.js';
import { askInPipeline } from '../../support/http-pipeline.js';
import type { PipelinedRequest } from '../../support/http-pipeline.js';
import type { RawReply } from '../../support/http-replies.js';
import { startTestService } from '../../support/http-service.js';
import { rules, verdictOf } from './access-rules.js';
import type { Rule, Verdict } from './access-rules.js';
import { situationsFor } from './access-situations.js';
import type { Situation } from './access-situations.js';
import { makeAccessWorld } from './access-world.js';
import type { AccessWorld } from './access-world.js';

interface Case {
  readonly route: Route;
  readonly situation: Situation;
  readonly request: PipelinedRequest;
  readonly expected: Verdict;
}

const unlimited = { limit: 1_000_000, seconds: 1 };

/**
 * Calls every route in every situation, or in a share of them that the seed draws, over HTTP and on stores in memory, and compares what it answers with the rules.
 * @returns how many calls were made
 */
export async function runAccessMatrix(
  t: ExecutionContext,
  { share, seed }: { readonly share: number; readonly seed: number },
): Promise<number> {
  const service = await startTestService(t, {
    rates: { session: unlimited, api_key: unlimited },
    logger: pino({ level: 'silent' }),
  });
  const world = await makeAccessWorld(service);
  const random = makeSeededRandom(seed);
  const cases = service.routes.flatMap((route) => {
    const rule = rules[ruleName(route)];
    if (rule === undefined) throw new Error(`no rule for ${ruleName(route)}`);
    return situationsFor(route.path)
      .filter(() => share === 1 || random() < share)
      .map((situation): Case => ({ route, situation, ...caseFor(world, route, rule, situation) }));
  });
  const problems: string[] = [];
  for (let from = 0; from < cases.length; from += batch) {
    const some = cases.slice(from, from + batch);
    const replies = await askInPipeline(
      service.server.port,
      some.map(({ request }) => request),
    );
    some.forEach((one, index) => {
      problems.push(...problemsOf(one, replies[index]));
    });
  }
  t.deepEqual(problems.slice(0, 20), [], `${problems.length} of ${cases.length} calls`);
  return cases.length;
}

/** So many behind each other: enough to be fast, and few enough to fit any buffer. */
const batch = 250;

/** Method and path as `rules` spells them. */
export function ruleName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path.replace(/^\/api\/v1/, '').replaceAll(/:\w+/g, '{}')}`;
}

/** Says twice what may be said once: 400, whatever the route, after everything that this test is about. */
const doubled = '?twice=1&twice=1';

/**
 * A request that changes nothing if it is let through: a GET of what is there is answered, anything else is refused after
 * the access checks, for its body's type or its query.
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
  const harmless = method === 'GET' && known;
  return { expected, request: { method, path: harmless ? path : path + doubled, headers } };
}

function takesBody({ request }: Route): boolean {
  return !(request.body instanceof z.ZodUndefined);
}

const errorBody = z.strictObject({ code: z.string(), message: z.string() });

function problemsOf({ route, situation, request, expected }: Case, reply: RawReply | undefined): string[] {
  if (reply === undefined) return ['no reply'];
  const { status, text } = reply;
  const error = status < 400 ? null : errorBody.safeParse(JSON.parse(text));
  if (error?.success === false) return [`${ruleName(route)}: ${status} with the body ${text}`];
  const got = letThrough(route, request, status, error?.data)
    ? 'admitted'
    : `${status} ${error?.data.code ?? ''}`;
  return got === expected
    ? []
    : [`${ruleName(route)} ${JSON.stringify(situation)}: ${got}, expected ${expected}`];
}

function letThrough(
  route: Route,
  { path }: PipelinedRequest,
  status: number,
  error: z.infer<typeof errorBody> | undefined,
): boolean {
  // What takes any bytes has only its path to refuse.
  if (route.raw !== undefined) return error?.code === 'not_found';
  if (takesBody(route)) return error?.code === 'unsupported_media_type';
  if (path.endsWith(doubled)) return error?.message === 'query: a parameter is given twice';
  return status === 200;
}
