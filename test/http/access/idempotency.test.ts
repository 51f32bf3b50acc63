import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { Overloaded } from '../../../src/kit/semaphore.js';
import {
  CommandRejected,
  OutcomeUnknown,
  StoreUnavailable,
} from '../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { type IdempotentRequest, makeRunOnce } from '../../../src/http/access/idempotency.js';
import { trackRequest } from '../../../src/http/access/limits.js';
import { makeTestClock, type TestClock } from '../../support/fakes/clock.js';
import { plainSealer, startTestHttp, type Answer, type TestHttp } from '../../support/clients/http-app.js';
import { startTestService } from '../../support/servers/http-service.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';
import { testRoute } from '../../support/clients/test-route.js';

const made = z.strictObject({
  commandId: z.string(),
  time: z.string(),
  attempt: z.int(),
  name: z.string(),
});
type Made = z.output<typeof made>;

interface Bench {
  readonly http: TestHttp;
  readonly store: StateStore;
  /** Actions of the next attempts before they reply. */
  readonly before: (() => Promise<void>)[];
  readonly make: (name: string, key?: string) => Promise<Answer>;
}

/** Makes the next attempt hang until `end`. */
function stall(before: (() => Promise<void>)[]): { readonly begun: Promise<void>; readonly end: () => void } {
  let end = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    before.push(() => {
      resolve();
      return new Promise((done) => {
        end = done;
      });
    });
  });
  return {
    begun,
    end: () => end(),
  };
}

/** Starts a process. Processes with one store repeat each other's requests. */
async function startBench(
  t: ExecutionContext,
  {
    clock = makeTestClock(),
    store = makeMemoryStateStore({ clock }),
  }: { clock?: TestClock; store?: StateStore } = {},
): Promise<Bench> {
  const before: (() => Promise<void>)[] = [];
  let attempt = 0;
  const route = testRoute('POST /made', {
    request: { body: z.strictObject({ name: z.string(), a: z.int().optional() }) },
    replies: { 201: { description: 'It.', schema: made } },
    errors: ['email_taken'],
    idempotent: true,
    handler: async ({ command, body }) => {
      attempt += 1;
      const own = attempt;
      await before.shift()?.();
      const { commandId, time } = command;
      return {
        status: 201,
        body: { commandId, time: time.toISOString(), attempt: own, name: body.name },
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

/** Starts two processes with one store. */
async function startTwo(t: ExecutionContext) {
  const clock = makeTestClock();
  const both = { clock, store: makeMemoryStateStore({ clock }) };
  return { clock, one: await startBench(t, both), two: await startBench(t, both) };
}

const bodyOf = (answer: Answer): Made => made.parse(answer.json);

test('Without a key every request is unique', async (t) => {
  const { make } = await startBench(t);
  const [one, two] = [bodyOf(await make('a')), bodyOf(await make('a'))];
  t.not(one.commandId, two.commandId);
});

test('The same key and body get the same reply with headers, and the work runs once', async (t) => {
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

test('A body is the same in every spelling of its JSON, and another body is refused', async (t) => {
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

test('A key expires 24 hours after its first use', async (t) => {
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

test('A repetition waits for the attempt that is under way in its process, and gets its reply', async (t) => {
  const { make, before } = await startBench(t);
  const first = stall(before);
  const stuck = make('a', 'k');
  await first.begun;
  const waiting = [make('a', 'k'), make('a', 'k')];
  first.end();
  const replies = (await Promise.all([stuck, ...waiting])).map((answer) => bodyOf(answer).attempt);
  t.deepEqual(replies, [1, 1, 1]);
});

test('A repetition in another process takes over after 1.5 s, with the same id and time', async (t) => {
  // Given an attempt that hangs, or whose process is dead
  const { clock, one, two } = await startTwo(t);
  const first = stall(one.before);
  const stuck = one.make('a', 'k');
  await first.begun;
  // When the request is repeated in another process
  const startMs = clock.now().getTime();
  const taken = bodyOf(await two.make('a', 'k'));
  // Then the same command runs there, before 2 s have passed
  t.is(taken.attempt, 1);
  const waitedMs = clock.now().getTime() - startMs;
  t.true(waitedMs >= 1_500 && waitedMs <= 1_750, `${waitedMs} ms`);
  // And the attempt that lives after all has the same id and time. The reply of the other one stays.
  first.end();
  const late = bodyOf(await stuck);
  t.deepEqual([late.commandId, late.time], [taken.commandId, taken.time]);
  t.is((await one.make('a', 'k')).text, JSON.stringify(taken));
});

/** Given an attempt that hangs, and a repetition in another process that took its claim over and hangs too. */
async function givenTakenOver(t: ExecutionContext) {
  const { one, two } = await startTwo(t);
  const [first, second] = [stall(one.before), stall(two.before)];
  const attempt = one.make('a', 'k');
  await first.begun;
  const refuse = (): Promise<never> => Promise.reject(new CommandRejected('email_taken', 'made before'));
  const stalled = two.before.shift();
  two.before.push(() => (stalled?.() ?? Promise.resolve()).then(refuse));
  const repetition = two.make('a', 'k');
  await second.begun;
  return { two, first, second, attempt, repetition, refuse };
}

test('A repetition that is refused after it took over answers the reply that the attempt has kept meanwhile', async (t) => {
  const { first, second, attempt, repetition } = await givenTakenOver(t);
  // When the attempt ends after all, and the repetition is refused because the work is done
  first.end();
  const reply = await attempt;
  t.is(reply.status, 201);
  second.end();
  // Then the repetition has the reply of the attempt
  t.is((await repetition).text, reply.text);
});

test('An attempt keeps its reply after a repetition took over and was refused', async (t) => {
  const { two, first, second, attempt, repetition, refuse } = await givenTakenOver(t);
  // When the repetition is refused before the attempt ends
  second.end();
  t.is((await repetition).status, 409);
  first.end();
  const reply = await attempt;
  // Then later repetitions have the reply of the attempt
  two.before.push(refuse);
  t.is((await two.make('a', 'k')).text, reply.text);
});

test('A repetition after a restart takes over at once when the attempt is older than 1.5 s', async (t) => {
  const { clock, one, two } = await startTwo(t);
  const first = stall(one.before);
  const stuck = one.make('a', 'k');
  await first.begun;
  clock.advance(1_500);
  const startMs = clock.now().getTime();
  t.is((await two.make('a', 'k')).status, 201);
  t.is(clock.now().getTime(), startMs);
  first.end();
  await stuck;
});

test('A repetition waits less when the attempt in the other process ends', async (t) => {
  const clock = makeTestClock();
  const store = makeMemoryStateStore({ clock });
  const one = await startBench(t, { store, clock });
  const first = stall(one.before);
  const stuck = one.make('a', 'k');
  await first.begun;
  // The attempt ends during the first pause of the repetition.
  const ending: TestClock = {
    ...clock,
    sleep: async (ms) => {
      clock.advance(ms);
      first.end();
      await stuck;
    },
  };
  const two = await startBench(t, { store, clock: ending });
  t.is((await two.make('a', 'k')).text, (await stuck).text);
});

test('A repetition that fails may follow an attempt that has written, so its 503 is an unknown outcome', async (t) => {
  const { make, before } = await startBench(t);
  before.push(
    () => Promise.reject(new StoreUnavailable('away')),
    () => Promise.reject(new StoreUnavailable('away')),
  );
  t.like((await make('a', 'k')).json, { code: 'store_unavailable' });
  t.like((await make('a', 'k')).json, { code: 'outcome_unknown' });
});

for (const error of [new StoreUnavailable('away'), new OutcomeUnknown('lost'), new Error('bug')]) {
  test(`After ${error.name} the next attempt begins at once, with the same id and time`, async (t) => {
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

test('A refusal is not stored, because its cause may disappear, and leaves no claim', async (t) => {
  const { make, before, store } = await startBench(t);
  before.push(() => Promise.reject(new CommandRejected('email_taken', 'taken')));
  t.is((await make('a', 'k')).status, 409);
  t.deepEqual(await store.list('idempotency/', { limit: 1 }), []);
  t.is((await make('b', 'k')).status, 201);
});

test('A refusal after an unknown outcome keeps the ids, because the first attempt may have written', async (t) => {
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

test('Only one of several concurrent requests does the work, and all get its reply', async (t) => {
  const { make } = await startBench(t);
  const answers = await Promise.all(Array.from({ length: 8 }, () => make('a', 'k')));
  t.is(new Set(answers.map(({ text }) => text)).size, 1);
  t.is(answers[0]?.status, 201);
});

test('Only one of several requests takes a claim that is free, or of a dead attempt, at the same moment', async (t) => {
  const clock = makeTestClock();
  const store = makeMemoryStateStore({ clock });
  const request: IdempotentRequest = {
    ...{ scope: ['anna', 'make'], key: 'k', body: {}, keepsReply: true, progress: trackRequest() },
    isGone: () => false,
  };
  const commands: string[] = [];
  /** Sends eight requests at once to a process that then hangs. */
  const atOnce = async (): Promise<void> => {
    const waiting = { ...clock, sleep: () => new Promise<never>(() => undefined) };
    const digest = { of: (purpose: string, value: string) => `${purpose}/${value}` };
    const deps = { store, digest, sealer: plainSealer, clock: waiting, newId: randomUUID };
    const runOnce = makeRunOnce({ ...deps, onReplyLost: () => t.fail() });
    for (let n = 0; n < 8; n += 1) {
      void runOnce(request, ({ commandId }) => {
        commands.push(commandId);
        return new Promise<never>(() => undefined);
      });
    }
    await setImmediate();
  };
  await atOnce();
  t.is(commands.length, 1);
  clock.advance(1_500);
  await atOnce();
  t.is(commands.length, 2);
  t.is(commands[0], commands[1]);
});

test('A reply that cannot be stored is still sent, and without the state store no work begins', async (t) => {
  const clock = makeTestClock();
  const inner = makeMemoryStateStore({ clock });
  let writes = 0;
  const flakyStore: StateStore = {
    ...inner,
    compareAndSet: (...args) => {
      writes += 1;
      return writes === 1 ? inner.compareAndSet(...args) : Promise.reject(new StoreUnavailable('away'));
    },
  };
  const flaky = await startBench(t, { store: flakyStore });
  t.is((await flaky.make('a', 'k')).status, 201);
  t.true(flaky.http.logLines.some((line) => line.includes('could not be stored')));
  const awayStore = { ...inner, get: () => Promise.reject(new StoreUnavailable('away')) };
  const away = await startBench(t, { store: awayStore });
  // The request may be a repetition of one that has written.
  t.like((await away.make('a', 'new')).json, { code: 'outcome_unknown' });
});

test('A busy service answers a repetition with an unknown outcome, because an earlier attempt may have written', async (t) => {
  const { make, before } = await startBench(t);
  before.push(
    () => Promise.reject(new Overloaded('full')),
    () => Promise.reject(new Overloaded('full')),
  );
  t.like((await make('a', 'k')).json, { code: 'overloaded' });
  t.like((await make('a', 'k')).json, { code: 'outcome_unknown' });
});

test('A key is 1 to 255 visible ASCII characters', async (t) => {
  const { make } = await startBench(t);
  t.is((await make('a', 'x'.repeat(255))).status, 201);
  for (const bad of ['', 'x'.repeat(256), 'a b', 'é']) t.is((await make('a', bad)).status, 400, `for ${bad}`);
});

test('A claim contains neither key nor body nor reply in the clear', async (t) => {
  const { make, store } = await startBench(t);
  await make('canary-body', 'canary-key');
  const [record] = await store.list('idempotency/', { limit: 10 });
  t.truthy(record);
  // The substitutes for digest and sealer quote their input. All other text of the record is in the clear.
  const clear = JSON.stringify(record)
    .replaceAll(/digest\(.*?\)"/g, '')
    .replaceAll(/"reply":".*?[^\\]"/g, '');
  t.notRegex(clear, /canary/);
});

test('A registration that is refused for its body writes nothing with an Idempotency-Key, and such 400s are limited', async (t) => {
  // Given the state store, with a count of its writes
  let writes = 0;
  const clock = makeTestClock();
  const inner = makeMemoryStateStore({ clock });
  const stateStore: StateStore = {
    ...inner,
    compareAndSet: (...args) => {
      writes += 1;
      return inner.compareAndSet(...args);
    },
  };
  const service = await startTestService(t, { stateStore });
  const register = (email: string, password: string, key: number) =>
    service.post('/api/v1/auth/register', { email, password }, { 'idempotency-key': `key-${key}` });
  // When a client sends bodies of the right form that break a rule
  for (let n = 0; n < 60; n += 1) t.is((await register('ada@example.com', 'too-simple', n)).status, 400);
  // Then nothing was written
  t.is(writes, 0);
  // and the client is refused, also with a right body, until it has waited
  t.is((await register('ada@example.com', 'Correct-Horse-7', 60)).status, 429);
  service.clock.advance(10_000);
  t.is((await register('ada@example.com', 'Correct-Horse-7', 60)).status, 201);
  t.true(writes > 0);
});
