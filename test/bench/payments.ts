import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type autocannon from 'autocannon';
import { paymentProvider, type PaymentProviderName } from '../../src/areas/payments/domain/payment.js';
import type { SentCallback } from '../support/clients/sign-callbacks.js';
import { load, loadCounted } from './load.js';
import { compare, type Comparison } from './measure.js';
import type { PaidOrders, PaymentsBenchSetup, SignedCallbacks } from './payments-server.js';

const rounds = 3;
const auditedRounds = 10;
const callbacksPerRound = 1_000;

/** The signature scheme of each platform, and the goal of its callbacks as a share of the anchor's rate. */
const schemes: Readonly<Record<PaymentProviderName, readonly [string, Comparison['goal']]>> = {
  stripe: ['HMAC', { atLeast: 0.2 }],
  standard: ['HMAC', { atLeast: 0.2 }],
  epay: ['MD5', null],
  wechatpay: ['RSA, sealed', null],
  alipay: ['RSA', null],
  paypal: ['RSA', null],
};

/** Compares callbacks that pay an order each with a bare route that receives the same bytes. */
export function benchPayments(): Promise<readonly Comparison[]> {
  return withServer([], async (child, setup) => {
    const comparisons: Comparison[] = [];
    for (const provider of paymentProvider.options) {
      comparisons.push(await benchPlatform(child, setup, provider));
    }
    return comparisons;
  });
}

/** Compares callbacks of a service with those of one that runs no audit log. */
export function benchPaymentsWithAudit(): Promise<Comparison> {
  const provider = 'stripe';
  return withServer([], (audited, auditedSetup) =>
    withServer(['without-audit'], async (bare, bareSetup) => {
      const [ours, anchor] = [
        await callbacksOf(audited, provider, auditedRounds + 1),
        await callbacksOf(bare, provider, auditedRounds + 1),
      ];
      const send = (url: string, requests: readonly autocannon.Request[]): Promise<number> =>
        loadCounted({ url, amount: callbacksPerRound, requests: [...requests] });
      const [oursEach, anchorEach] = [[eachOnce(ours, provider)], [eachOnce(anchor, provider)]];
      return compare(
        {
          what: 'callbacks of stripe with the audit log',
          anchor: 'without it',
          unit: 'callbacks/s',
          goal: { atLeast: 0.9 },
        },
        auditedRounds,
        {
          ours: () => send(auditedSetup.service, oursEach),
          anchor: () => send(bareSetup.service, anchorEach),
        },
      );
    }),
  );
}

async function withServer<Result>(
  args: readonly string[],
  run: (child: ChildProcess, setup: PaymentsBenchSetup) => Promise<Result>,
): Promise<Result> {
  const child = fork(fileURLToPath(new URL('./payments-server.js', import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const [setup] = (await once(child, 'message')) as [PaymentsBenchSetup];
    return await run(child, setup);
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

/** Returns genuine callbacks for so many rounds. */
async function callbacksOf(
  child: ChildProcess,
  provider: PaymentProviderName,
  forRounds: number,
): Promise<readonly SentCallback[]> {
  const count = forRounds * callbacksPerRound;
  return ((await ask(child, { sign: provider, count })) as SignedCallbacks).callbacks;
}

async function benchPlatform(
  child: ChildProcess,
  setup: PaymentsBenchSetup,
  provider: PaymentProviderName,
): Promise<Comparison> {
  // One round more, which does not count.
  const callbacks = await callbacksOf(child, provider, rounds + 1);
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
  if (paid !== callbacks.length) throw new Error(`${paid} of ${callbacks.length} orders are paid`);
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
