import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import { CommandRejected, OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing/errors.js';
import type { StateStore } from '../../src/event-sourcing/state-store.js';
import { publicAccess } from '../../src/http/access.js';
import { type IdempotentRequest, makeRunOnce } from '../../src/http/idempotency.js';
import { noParams, noQuery } from '../../src/http/route-spec.js';
import { defineRoute } from '../../src/http/route.js';
import { makeTestClock } from '../support/clock.js';
import { plainSealer, startTestHttp } from '../support/http-app.js';
import type { Answer, TestHttp } from '../support/http-app.js';
import { makeMemoryStateStore } from '../support/memory-state-store.js';

const made = z.strictObject({
  commandId: z.string(),
  time: z.string(),
  isUnique: z.boolean(),
  attempt: z.int(),
  name: z.string(),
});
type Made = z.output<typeof made>;

interface Bench {
  readonly http: TestHttp;
  readonly store: StateStore;
  /** What the next attempts do before they answer. */
  readonly before: (() => Promise<void>)[];
  readonly make: (name: string, key?: string) => Promise<Answer>;
}

async function startBench(t: ExecutionContext, overrides: Partial<StateStore> = {}): Promise<Bench> {
  const clock = makeTestClock();
  const store = { ...makeMemoryStateStore({ clock }), ...overrides };
  const before: (() => Promise<void>)[] = [];
  let attempt = 0;
  const route = defineRoute({
    method: 'POST',
    path: '/made',
    name: 'make',
    tag: 'Test',
    summary: 'Make something',
    access: publicAccess,
    request: {
      params: noParams,
      query: noQuery,
      body: z.strictObject({ name: z.string(), a: z.int().optional() }),
    },
    replies: { 201: { description: 'It.', schema: made } },
    errors: ['email_taken'],
    idempotent: true,
    handler: async ({ command, body }) => {
      attempt += 1;
      const own = attempt;
      await before.shift()?.();
      const { commandId, time, isUnique = false } = command;
      return {
        status: 201,
        body: { commandId, time: time.toISOString(), isUnique, attempt: own, name: body.name },
        location: `/made/${commandId}`,
      };
    },
  });
  const http = await startTestHttp(t, { routes: [route], stateStore: store, clock });
  return {
    http,
    store,
    before,
    make: (name, key) =>
      http.ask('/made', {
        method: 'POST',
        json: { name },
        headers: key === undefined ? {} : { 'idempotency-key': key },
      }),
  };
}

const bodyOf = (answer: Answer): Made => made.parse(answer.json);

test('without a key every request is its own', async (t) => {
  const { make } = await startBench(t);
  const [one, two] = [bodyOf(await make('a')), bodyOf(await make('a'))];
  t.not(one.commandId, two.commandId);
  t.true(one.isUnique && two.isUnique);
});

test('with a key a request counts as one that may be repeated', async (t) => {
  const { make } = await startBench(t);
  t.false(bodyOf(await make('a', 'k1')).isUnique);
});

test('the same key and body get the same reply, headers too, and the work is done once', async (t) => {
  const { make, http } = await startBench(t);
  const first = await make('a', 'k1');
  http.clock.advance(60_000);
  const second = await make('a', 'k1');
  t.is(second.status, 201);
  t.is(second.text, first.text);
  t.is(second.headers.get('location'), first.headers.get('location'));
  t.is(bodyOf(second).attempt, 1);
  t.not(bodyOf(await make('a', 'k2')).commandId, bodyOf(first).commandId);
});

test('a body is the same however its JSON is spelled, and another body is refused', async (t) => {
  const { http } = await startBench(t);
  const post = (body: string) =>
    http.ask('/made', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
    });
  t.is((await post('{"name":"a","a":1}')).status, 201);
  t.is((await post('{ "a": 1, "name": "\\u0061" }')).status, 201);
  const other = await post('{"name":"b","a":1}');
  t.is(other.status, 409);
  t.like(other.json, { code: 'idempotency_key_reused' });
});

test('24 hours after it was first seen a key is forgotten', async (t) => {
  const { make, http, before } = await startBench(t);
  before.push(() => {
    http.clock.advance(3600 * 1000);
    return Promise.resolve();
  });
  const first = bodyOf(await make('a', 'k'));
  http.clock.advance(23 * 3600 * 1000);
  const later = bodyOf(await make('b', 'k'));
  t.not(later.commandId, first.commandId);
});

test('while one is in flight the next is told to wait; after 30 s it takes over with the same id and time', async (t) => {
  const { make, http, before } = await startBench(t);
  let release = (): void => undefined;
  const entered = new Promise<void>((resolve) => {
    before.push(() => {
      resolve();
      return new Promise((done) => {
        release = done;
      });
    });
  });
  const stuck = make('a', 'k');
  await entered;
  const waiting = await make('a', 'k');
  t.is(waiting.status, 409);
  t.like(waiting.json, { code: 'conflict' });
  t.is(waiting.headers.get('retry-after'), '1');
  http.clock.advance(29_999);
  t.is((await make('a', 'k')).status, 409);
  http.clock.advance(1);
  const taken = bodyOf(await make('a', 'k'));
  release();
  const late = bodyOf(await stuck);
  t.is(taken.attempt, 2);
  t.is(taken.commandId, late.commandId);
  t.is(taken.time, late.time);
  // The reply that was kept is that of whoever held the claim.
  t.is(bodyOf(await make('a', 'k')).attempt, 2);
});

for (const error of [new StoreUnavailable('away'), new OutcomeUnknown('lost'), new Error('bug')]) {
  test(`after ${error.name} the next attempt begins at once, with the same id and time`, async (t) => {
    const { make, http, before, store } = await startBench(t);
    before.push(() => Promise.reject(error));
    t.true((await make('a', 'k')).status >= 500);
    const [record] = await store.list('idempotency/', { limit: 1 });
    http.clock.advance(1000);
    const second = bodyOf(await make('a', 'k'));
    t.is(second.attempt, 2);
    t.like(record?.value, { command_id: second.commandId, time: second.time });
  });
}

test('a refusal is not kept, and leaves nothing in the store: what stood in the way may be gone', async (t) => {
  const { make, before, store } = await startBench(t);
  before.push(() => Promise.reject(new CommandRejected('email_taken', 'taken')));
  t.is((await make('a', 'k')).status, 409);
  t.deepEqual(await store.list('idempotency/', { limit: 1 }), []);
  t.is((await make('b', 'k')).status, 201);
});

test('a refusal after an attempt whose outcome nobody knows keeps the ids: the first may have been written', async (t) => {
  const { make, before, store } = await startBench(t);
  before.push(
    () => Promise.reject(new OutcomeUnknown('lost')),
    () => Promise.reject(new CommandRejected('email_taken', 'taken')),
  );
  t.is((await make('a', 'k')).status, 503);
  const [record] = await store.list('idempotency/', { limit: 1 });
  t.is((await make('a', 'k')).status, 409);
  t.like(record?.value, { command_id: bodyOf(await make('a', 'k')).commandId });
});

test('of two that find the claim free, one does the work', async (t) => {
  const { make } = await startBench(t);
  const answers = await Promise.all(Array.from({ length: 8 }, () => make('a', 'k')));
  const statuses = answers.map(({ status }) => status);
  t.true(statuses.includes(201));
  t.true(statuses.every((status) => status === 201 || status === 409));
  const done = answers.filter(({ status }) => status === 201).map((answer) => bodyOf(answer).attempt);
  t.deepEqual(new Set(done), new Set([1]));
});

test('of several that find it free, or left for 30 s, at the same moment, one does the work', async (t) => {
  const clock = makeTestClock();
  const runOnce = makeRunOnce({
    store: makeMemoryStateStore({ clock }),
    digest: { of: (purpose, value) => `${purpose}/${value}` },
    sealer: plainSealer,
    clock,
    newId: randomUUID,
    onReplyLost: () => t.fail(),
  });
  const request: IdempotentRequest = { scope: ['anna', 'make'], key: 'k', body: {}, keepsReply: true };
  const commands: string[] = [];
  const atOnce = async (): Promise<void> => {
    for (let n = 0; n < 8; n += 1) {
      runOnce(request, ({ commandId }) => {
        commands.push(commandId);
        return new Promise<never>(() => undefined);
      }).catch((error: unknown) => t.like(error, { code: 'conflict' }));
    }
    await setImmediate();
  };
  await atOnce();
  t.is(commands.length, 1);
  clock.advance(30_000);
  await atOnce();
  t.is(commands.length, 2);
  t.is(commands[0], commands[1]);
});

test('a reply that cannot be kept still leaves; without the state store nothing is begun', async (t) => {
  const clock = makeTestClock();
  const inner = makeMemoryStateStore({ clock });
  let writes = 0;
  const flaky = await startBench(t, {
    get: (key) => inner.get(key),
    compareAndSet: (...args) => {
      writes += 1;
      return writes === 1 ? inner.compareAndSet(...args) : Promise.reject(new StoreUnavailable('away'));
    },
  });
  t.is((await flaky.make('a', 'k')).status, 201);
  t.true(flaky.http.logLines.some((line) => line.includes('could not be kept')));
  const away = await startBench(t, { get: () => Promise.reject(new StoreUnavailable('away')) });
  t.is((await away.make('a', 'k')).status, 503);
});

test('a key is 1 to 255 visible ASCII characters', async (t) => {
  const { make } = await startBench(t);
  t.is((await make('a', 'x'.repeat(255))).status, 201);
  for (const bad of ['', 'x'.repeat(256), 'a b', 'é']) t.is((await make('a', bad)).status, 400, `for ${bad}`);
});

test('a claim shows neither key nor body nor reply in the clear', async (t) => {
  const { make, store } = await startBench(t);
  await make('canary-body', 'canary-key');
  const [record] = await store.list('idempotency/', { limit: 10 });
  t.truthy(record);
  // The stand-ins for digest and sealer quote their input; what is left without them is in the clear.
  const clear = JSON.stringify(record)
    .replaceAll(/digest\(.*?\)"/g, '')
    .replaceAll(/"reply":".*?[^\\]"/g, '');
  t.notRegex(clear, /canary/);
});
