import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { z } from 'zod';
import { makeAvailability } from '../../../src/observing/stores/availability.js';
import type { RequestProgress } from '../../../src/event-sourcing/ports/command-context.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { noContent } from '../../../src/http/replies/reply.js';
import { type Route } from '../../../src/http/route.js';
import { startTestHttp } from '../../support/clients/http-app.js';
import { makeRequestLimits, trackRequest } from '../../../src/http/access/limits.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { refusalOfEndlessWork } from '../../support/given/given-request-limits.js';
import { testRoute } from '../../support/clients/test-route.js';

const path = '/things';

/** Makes a route whose work the test gives. */
function route(method: 'GET' | 'POST', work: (request: RequestProgress) => Promise<void>): Route {
  return testRoute(`${method} ${path}`, {
    replies: { 204: { description: 'Done.', schema: noContent } },
    handler: async ({ command }) => {
      if (command.request !== undefined) await work(command.request);
      return { status: 204, body: undefined };
    },
  });
}

const never = (): Promise<void> => new Promise(() => undefined);

test('A request that does not end is 503 at its limit, and says that nothing was written', async (t) => {
  const progress: RequestProgress[] = [];
  const work = (request: RequestProgress): Promise<void> => {
    progress.push(request);
    return never();
  };
  const http = await startTestHttp(t, { routes: [route('POST', work)], requestMs: { totalMs: 50 } });
  const answer = await http.ask(path, { method: 'POST' });
  t.is(answer.status, 503);
  t.like(answer.json, { code: 'store_unavailable' });
  t.regex(answer.text, /nothing was written/);
  t.is(answer.headers.get('retry-after'), '1');
  t.true(progress[0]?.isOver(), 'and its work begins no further append');
});

test('While the disk does not answer, a change is 503 at the limit of writes, also one that waits for others, and a read goes on', async (t) => {
  let waitedMs = 999;
  const http = await startTestHttp(t, {
    routes: [route('POST', never), route('GET', () => setTimeout(300))],
    writesWaitMs: () => waitedMs,
    requestMs: { totalMs: 20_000, writeMs: 50 },
  });
  const reading = http.ask(path);
  const writing = http.ask(path, { method: 'POST' });
  t.is(await Promise.race([writing.then(() => 'refused'), setTimeout(150, 'open')]), 'open');
  waitedMs = 1_000;
  t.like((await writing).json, { code: 'store_unavailable' });
  t.is((await reading).status, 204);
});

test('A request at its limit that has sent an append is 503 with an unknown outcome', async (t) => {
  const work = (request: RequestProgress): Promise<void> => {
    request.appending();
    return never();
  };
  const http = await startTestHttp(t, { routes: [route('POST', work)], requestMs: { totalMs: 50 } });
  const answer = await http.ask(path, { method: 'POST' });
  t.is(answer.status, 503);
  t.like(answer.json, { code: 'outcome_unknown' });
  t.regex(answer.text, /Idempotency-Key/);
  t.is(answer.headers.get('retry-after'), '1');
});

for (const [what, work, code] of [
  ['a store that is away', () => Promise.reject(new StoreUnavailable('away')), 'store_unavailable'],
  [
    'an append without an answer',
    (request: RequestProgress) => {
      request.appending();
      return Promise.reject(new OutcomeUnknown('lost'));
    },
    'outcome_unknown',
  ],
  [
    'a store that goes away after a first append',
    (request: RequestProgress) => {
      request.appending();
      return Promise.reject(new StoreUnavailable('away'));
    },
    'outcome_unknown',
  ],
  [
    'a store that refuses an append',
    (request: RequestProgress) => {
      request.appending();
      request.wroteNothing();
      return Promise.reject(new StoreUnavailable('away'));
    },
    'store_unavailable',
  ],
] as const) {
  test(`A 503 for ${what} has the code ${code}`, async (t) => {
    const http = await startTestHttp(t, { routes: [route('POST', work)] });
    t.like((await http.ask(path, { method: 'POST' })).json, { code });
  });
}

test('A request ends early while a store that it needs is away, and only then', async (t) => {
  const clock = makeTestClock();
  const availability = {
    eventStore: makeAvailability(() => clock.steadyMs()),
    readModels: makeAvailability(() => clock.steadyMs()),
    state: makeAvailability(() => clock.steadyMs()),
  };
  const [write, read] = [stall(), stall()];
  const http = await startTestHttp(t, {
    routes: [route('POST', write.work), route('GET', read.work)],
    ...{ clock, availability, requestMs: { awayMs: 50 } },
  });
  // Given a log that has just gone away
  availability.eventStore.unanswered();
  const writing = http.ask(path, { method: 'POST' });
  await write.begun;
  await setTimeout(200);
  // When it has been away for 1 s, then a write ends early
  clock.advance(1_000);
  t.is((await writing).status, 503);
  // And a read, which does not need the log, does not
  const reading = http.ask(path);
  await read.begun;
  await setTimeout(200);
  read.end();
  t.is((await reading).status, 204);
});

test('A blip of a store ends no request', async (t) => {
  const clock = makeTestClock();
  const away = makeAvailability(() => clock.steadyMs());
  away.unanswered();
  const availability = { eventStore: away, readModels: away, state: away };
  const write = stall();
  const http = await startTestHttp(t, {
    routes: [route('POST', write.work)],
    ...{ clock, availability, requestMs: { awayMs: 50 } },
  });
  const writing = http.ask(path, { method: 'POST' });
  await write.begun;
  clock.advance(999);
  await setTimeout(200);
  write.end();
  t.is((await writing).status, 204);
});

/** Makes work that begins, and ends when the test says so. */
function stall() {
  let end = (): void => undefined;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ended = new Promise<void>((resolve) => (end = resolve));
  return {
    begun,
    end: () => end(),
    work: () => {
      begin();
      return ended;
    },
  };
}

test('A reply that comes after the limit is dropped', async (t) => {
  let end = (): void => undefined;
  const http = await startTestHttp(t, {
    routes: [
      route('POST', () => new Promise((resolve) => (end = resolve))),
      testRoute('GET /alive', {
        replies: { 200: { description: 'Yes.', schema: z.strictObject({}) } },
        handler: () => ({ status: 200, body: {} }),
      }),
    ],
    requestMs: { totalMs: 50 },
  });
  t.is((await http.ask(path, { method: 'POST' })).status, 503);
  end();
  t.is((await http.ask('/alive')).status, 200);
  t.false(http.logLines.some((line) => line.includes('"level":50')));
});

test('Many requests share one timer', async (t) => {
  // Given 100 requests under way, one of which needs the state
  let checks = 0;
  let checked = (): void => undefined;
  const first = new Promise<void>((resolve) => (checked = resolve));
  const answers = { awaySinceMs: () => null };
  const awaySinceMs = () => {
    checks += 1;
    setImmediate(checked);
    return null;
  };
  const availability = { eventStore: answers, readModels: answers, state: { awaySinceMs } };
  const limits = makeRequestLimits({ availability, clock: makeTestClock() });
  const [one, ...others] = Array.from({ length: 100 }, stall);
  const runs = others.map(({ work }) => limits.run(trackRequest(), [], work));
  if (one !== undefined) runs.push(limits.run(trackRequest(), ['state'], one.work));
  // When they are checked
  // The timer of the limits alone does not keep a process alive.
  await Promise.race([first, setTimeout(10_000)]);
  await setTimeout(50);
  // Then they are not checked once for each of them
  t.true(checks > 0 && checks < 10, `${checks} checks`);
  for (const work of [one, ...others]) work?.end();
  await Promise.all(runs);
});

test('By default a request takes at most 2 s while a store that it needs is away', async (t) => {
  const { refusal, tookMs, isOver } = await refusalOfEndlessWork(1_000);
  t.is(refusal, 'the request took longer than 2000 ms, and the store eventStore does not answer');
  t.true(tookMs >= 2_000, `${tookMs} ms`);
  t.true(isOver);
});
