import test from 'ava';
import { rejectedBy } from '../../src/kit/time/time-limit.js';
import type { OutgoingHttp } from '../../src/outgoing/outgoing-http.js';
import { makeAttemptDelivery } from '../../src/webhooks/attempt.js';
import { givenWebhooks, anId } from '../support/given/given-webhooks.js';

/** Makes the attempts of an endpoint, and an event to send. */
async function givenAttempt(world: ReturnType<typeof givenWebhooks>, http: OutgoingHttp) {
  const [endpoint] = world.endpointsAt(['https://shop.example.org/hook', '*']);
  await world.appendToOrder(anId(1), 'OrderPlaced');
  const [event] = await world.eventStore.read(`order-${anId(1)}`);
  if (endpoint === undefined || event === undefined) throw new Error('no endpoint or no event');
  const cut = new AbortController();
  const { eventStore, clock } = world;
  const attempt = makeAttemptDelivery({ endpoint, eventStore, clock, http });
  return { attempt: () => attempt(event, cut.signal), cut };
}

test('A receiver is judged by its status line, and says how long to wait', async (t) => {
  const world = givenWebhooks(t);
  const later = new Date(world.clock.now().getTime() + 30_000).toUTCString();
  const hour = 3_600_000;
  let reply = { status: 429, headers: {} };
  const { attempt } = await givenAttempt(world, ({ bodyBytesMax }) => {
    t.is(bodyBytesMax, 0);
    return Promise.resolve({ ...reply, body: Buffer.alloc(0) });
  });
  for (const [status, retryAfter, waitMs] of [
    [429, '20', 20_000],
    [503, '86400', hour],
    [503, 'Fri, 31 Dec 9999 23:59:59 GMT', hour],
    [503, 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
    [500, 'soon', 0],
    [500, undefined, 0],
  ] as const) {
    reply = { status, headers: { 'retry-after': retryAfter } };
    t.deepEqual(await attempt(), { kind: 'failed', reason: `status ${status}`, waitMs }, retryAfter);
  }
  reply = { status: 503, headers: { 'retry-after': later } };
  const { waitMs } = (await attempt()) as { waitMs: number };
  t.true(waitMs > 28_000 && waitMs <= 30_000, String(waitMs));
});

test('The end of the lane cuts a running attempt off', async (t) => {
  const { attempt, cut } = await givenAttempt(givenWebhooks(t), (_request, signal) => {
    if (signal === undefined) throw new Error('no signal');
    cut.abort(new Error('the lane ends'));
    return rejectedBy(signal);
  });
  await t.throwsAsync(attempt(), { message: 'the lane ends' });
});
