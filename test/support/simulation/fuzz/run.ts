import type { ExecutionContext } from 'ava';
import { makeSeededRandom } from '../../fakes/clock.js';
import { makeDirectory } from '../../servers/embedded-directory.js';
import { makeHttpLane } from '../../clients/http-lane.js';
import type { RawReply } from '../../clients/http-replies.js';
import { startInProcess, type ServiceInProcess } from '../../servers/service-in-process.js';
import { agentSecret, makeCallers, type FuzzCaller } from './callers.js';
import { makeReplyChecker, type ReplyChecker } from './check-reply.js';
import { makeDice } from './dice.js';
import { makeRequest, makeTarget, type FuzzRequest, type Target } from './requests.js';

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
