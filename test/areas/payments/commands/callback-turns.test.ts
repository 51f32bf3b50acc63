import test from 'ava';
import { makeCallbackTurns } from '../../../../src/areas/payments/commands/callbacks/callback-turns.js';
import { makeReceivePaymentCallback } from '../../../../src/areas/payments/commands/callbacks/callbacks.js';
import type { PaymentCallback } from '../../../../src/areas/payments/platforms/payment-provider.js';
import { makeFetchedCertificates } from '../../../../src/areas/payments/platforms/paypal/paypal-certificates.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { makePace } from '../../../../src/kit/read-in-turns.js';
import { eventually } from '../../../support/eventually.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { makeTestPaymentProvider } from '../../../support/fakes/test-payment-provider.js';
import { givenContext } from '../../../support/given/given-stores.js';

/** Given turns whose pauses the test ends, and a clock that it moves. */
function given() {
  let nowMs = 0;
  const pauses: (() => void)[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const turns = makeCallbackTurns({
    clock: { steadyMs: () => nowMs },
    pace: makePace((next) => setImmediate(next)),
    pause: () => new Promise((resolve) => pauses.push(resolve)),
  });
  const begun: string[] = [];
  return {
    ...{ turns, begun, settle },
    advance: (ms: number) => {
      nowMs += ms;
    },
    send: (client: string, name = client, work: () => Promise<unknown> = settle) =>
      turns.take(client, 1_000, () => {
        begun.push(name);
        return work();
      }),
    endPauses: async (times: number) => {
      for (let index = 0; index < times; index += 1) {
        pauses.shift()?.();
        for (let turn = 0; turn < 4; turn += 1) await settle();
      }
    },
  };
}

test('Callbacks of a client with failed signatures wait behind all others, and get their turn', async (t) => {
  const { turns, begun, send, settle, endPauses } = given();
  turns.refused('attacker', 1_000);
  void send('attacker');
  void send('platform');
  await settle();
  t.deepEqual(begun, ['platform']);
  void send('other platform');
  await settle();
  t.deepEqual(begun, ['platform', 'other platform']);
  await endPauses(1);
  t.deepEqual(begun, ['platform', 'other platform', 'attacker']);
});

test('Among clients with failed signatures, the one with the least refused work is first', async (t) => {
  const { turns, begun, send, endPauses } = given();
  turns.refused('large', 250_000);
  turns.refused('small', 100);
  for (const name of ['large 1', 'large 2', 'large 3']) void send('large', name);
  void send('small');
  await endPauses(4);
  t.deepEqual(begun, ['small', 'large 1', 'large 2', 'large 3']);
});

test('Refused work is forgotten with time', async (t) => {
  const { turns, begun, send, settle, advance } = given();
  turns.refused('proxy', 1_000);
  advance(3_600_000);
  void send('proxy');
  await settle();
  t.deepEqual(begun, ['proxy']);
});

test('Callbacks of clients with refused work are verified one at a time, and those of others at once', async (t) => {
  // Given PayPal’s certificates, for whose answers two requests wait at once, and four more in a queue
  const { turns, send, endPauses } = given();
  const asked: string[] = [];
  const certificates = makeFetchedCertificates({
    environment: 'live',
    paceMs: 0,
    http: ({ url }) => {
      asked.push(url.replace(/.*CERT-/, ''));
      return new Promise(() => {});
    },
  });
  const verify = (client: string, name: string) =>
    send(client, name, () =>
      certificates(`https://api.paypal.com/v1/notifications/certs/CERT-${name}`, new Date(0)),
    );
  // When a client with refused work names a new certificate in each of its callbacks
  turns.refused('attacker', 1_000);
  for (let n = 0; n < 8; n += 1) void verify('attacker', `junk${n}`);
  await endPauses(8);
  // Then it takes one place, and another client gets the other one and the whole queue.
  const others = Array.from({ length: 5 }, (_, n) => verify(`platform${n}`, `genuine${n}`));
  await eventually('two requests', () => asked.length >= 2);
  t.deepEqual(asked, ['junk0', 'genuine0']);
  t.is(await Promise.race([...others, Promise.resolve('all wait')]), 'all wait');
});

test('A callback whose turn comes after its request was refused is not verified', async (t) => {
  const { turns, begun, send, advance, endPauses } = given();
  turns.refused('attacker', 1_000);
  const late = send('attacker', 'late');
  advance(15_000);
  const next = send('attacker', 'next');
  const refused = t.throwsAsync(late, { instanceOf: StoreUnavailable });
  await endPauses(1);
  await refused;
  await next;
  t.deepEqual(begun, ['next']);
  // The next callback gets its turn after no other waited.
  const last = send('attacker', 'last');
  await endPauses(1);
  await last;
});

test('A callback that cannot be verified now counts as refused work', async (t) => {
  const begun: string[] = [];
  const provider = {
    ...makeTestPaymentProvider(),
    verify: ({ query }: PaymentCallback) => {
      begun.push(query);
      return Promise.resolve({ kind: 'unavailable', problem: 'no certificate' } as const);
    },
  };
  const receive = makeReceivePaymentCallback({
    paymentProviders: new Map([['standard', provider]]),
    clock: makeTestClock(),
    onRefused: () => {},
    acceptCallback: () => Promise.reject(new Error('accepted')),
  });
  const send = (client: string) => {
    const of = { method: 'POST', headers: {}, body: Buffer.from(''), receivedAt: new Date(0) } as const;
    return receive(
      { name: 'standard', client, callback: { ...of, query: client } },
      givenContext(1, new Date(0)),
    );
  };
  t.is((await send('attacker')).kind, 'unavailable');
  await Promise.all([send('attacker'), send('platform')]);
  t.deepEqual(begun, ['attacker', 'platform', 'attacker']);
});
