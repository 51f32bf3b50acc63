import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type autocannon from 'autocannon';
import { paymentProvider, type PaymentProviderName } from '../../src/domain/payment.js';
import type { SentCallback } from '../support/clients/sign-callbacks.js';
import { load, loadCounted } from './load.js';
import { compare, type Comparison } from './measure.js';
import type { PaidOrders, PaymentsBenchSetup, SignedCallbacks } from './payments-server.js';

const rounds = 3;
const callbacksPerRound = 1_000;

/** The signature scheme of each platform, and the goal of its callbacks as a share of the anchor's rate. */
const schemes: Readonly<Record<PaymentProviderName, readonly [string, Comparison['goal']]>> = {
  stripe: ['HMAC', { atLeast: 0.25 }],
  standard: ['HMAC', { atLeast: 0.25 }],
  epay: ['MD5', null],
  wechatpay: ['RSA, sealed', null],
  alipay: ['RSA', null],
  paypal: ['RSA', null],
};

/** Compares callbacks that pay an order each with a bare route that receives the same bytes. */
export async function benchPayments(): Promise<readonly Comparison[]> {
  const child = fork(fileURLToPath(new URL('./payments-server.js', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const [setup] = (await once(child, 'message')) as [PaymentsBenchSetup];
    const comparisons: Comparison[] = [];
    for (const provider of paymentProvider.options) {
      comparisons.push(await benchPlatform(child, setup, provider));
    }
    return comparisons;
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

async function benchPlatform(
  child: ChildProcess,
  setup: PaymentsBenchSetup,
  provider: PaymentProviderName,
): Promise<Comparison> {
  // One round more, which does not count.
  const count = (rounds + 1) * callbacksPerRound;
  const { callbacks } = (await ask(child, { sign: provider, count })) as SignedCallbacks;
  const [first] = callbacks;
  if (first === undefined) throw new Error('there is nothing to send');
  const [scheme, goal] = schemes[provider];
  const requests = [eachOnce(callbacks, provider)];
  const comparison = await compare(
    { what: `callbacks of ${provider} (${scheme})`, unit: 'callbacks/s', anchor: 'anchor', goal },
    rounds,
    {
      ours: () => loadCounted({ url: setup.service, amount: callbacksPerRound, requests }),
      anchor: () => load({ url: setup.anchor, requests: [{ ...partsOf(first), path: `/27${first.query}` }] }),
    },
  );
  const { paid } = (await ask(child, { countPaid: true })) as PaidOrders;
  if (paid !== count) throw new Error(`${paid} of ${count} orders are paid`);
  return comparison;
}

/** Sends another callback with each request, for all rounds. */
function eachOnce(callbacks: readonly SentCallback[], provider: PaymentProviderName): autocannon.Request {
  let sent = 0;
  return {
    setupRequest: (request) => {
      const callback = callbacks[sent];
      if (callback === undefined) throw new Error('all callbacks of this bench are sent');
      sent += 1;
      const path = `/api/v1/payment/webhooks/${provider}${callback.query}`;
      return { ...request, ...partsOf(callback), path };
    },
  };
}

function partsOf({ method, headers, body }: SentCallback): autocannon.Request {
  return { method, headers, ...(method === 'POST' ? { body } : {}) };
}

async function ask(child: ChildProcess, wanted: object): Promise<unknown> {
  child.send(wanted);
  const [reply] = (await once(child, 'message')) as [unknown];
  return reply;
}
