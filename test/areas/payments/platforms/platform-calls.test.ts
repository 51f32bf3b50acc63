import test from 'ava';
import { OutgoingError, type OutgoingReply } from '../../../../src/outgoing/outgoing-http.js';
import { PlatformError } from '../../../../src/areas/payments/platforms/payment-maker.js';
import { makeCallPlatform } from '../../../../src/areas/payments/platforms/calls/platform-calls.js';
import { eventually } from '../../../support/eventually.js';

const request = { method: 'POST', url: 'https://platform.example/pay' } as const;
const replyOf = (status: number): OutgoingReply => ({ status, headers: {}, body: Buffer.alloc(0) });
const sleep = (): Promise<void> => Promise.resolve();

/** Calls a platform that answers in turn. */
async function outcomeOf(...answers: readonly (number | OutgoingError)[]): Promise<string> {
  const left = [...answers];
  const call = makeCallPlatform({
    sleep,
    http: () => {
      const answer = left.shift() ?? 418;
      return answer instanceof OutgoingError ? Promise.reject(answer) : Promise.resolve(replyOf(answer));
    },
  });
  try {
    return `${(await call(request)).status}, ${left.length} unasked`;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return `${error.failure} ${error.code ?? ''}, ${left.length} unasked`;
  }
}

test('What may pass is tried twice, and what will not pass once', async (t) => {
  const refused = new OutgoingError('connection_refused');
  const timeout = new OutgoingError('connection_timeout');
  t.is(await outcomeOf(200, 200), '200, 1 unasked');
  t.is(await outcomeOf(400, 200), '400, 1 unasked');
  t.is(await outcomeOf(401, 200), '401, 1 unasked');
  for (const passing of [409, 429, 500, 503, refused, timeout]) {
    t.is(await outcomeOf(passing, 200, 200), '200, 1 unasked');
  }
  t.is(await outcomeOf(refused, refused), 'unavailable connection_refused, 0 unasked');
  t.is(await outcomeOf(429, 429), 'unavailable status_429, 0 unasked');
  t.is(await outcomeOf(500, 500), 'outcome_unknown status_500, 0 unasked');
  // The first try may have done the work.
  t.is(await outcomeOf(timeout, refused), 'outcome_unknown connection_timeout, 0 unasked');
});

test('Eight calls are under way, sixteen wait, and further ones fail at once', async (t) => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let [running, most] = [0, 0];
  const call = makeCallPlatform({
    sleep,
    http: async () => {
      most = Math.max(most, (running += 1));
      await released;
      running -= 1;
      return replyOf(200);
    },
  });
  let refused = 0;
  const calls = Array.from({ length: 30 }, () =>
    call(request).catch((error: unknown) => {
      if (!(error instanceof PlatformError) || error.code !== 'queue_full') throw error;
      refused += 1;
    }),
  );
  await eventually('six refused calls', () => refused === 6);
  t.is(running, 8);
  release();
  await Promise.all(calls);
  t.deepEqual([most, refused], [8, 6]);
});
