import type { ExecutionContext } from 'ava';
import type { PaymentProviderName } from '../../../src/areas/payments/domain/payment.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { addTotp, asObject, makeServiceClient, textOf } from '../clients/service-client.js';
import type { SentCallback } from '../clients/sign-callbacks.js';
import { eventually } from '../eventually.js';
import { givenInProcess, makeKeptLog } from '../servers/service-in-process.js';
import { platformOptions, givenPlatformServer, type ReceivedRequest } from './platform-server.js';
import type { KeyObject } from 'node:crypto';
import {
  failureOf,
  merchantKeys,
  merchantSerial,
  paymentRequest,
  platformKeys,
} from '../../areas/payments/platforms/makers/given-makers.js';
import { merchant, secrets } from '../../areas/payments/platforms/messages/messages.js';
import { givenKeyDirectory } from '../../areas/payments/platforms/vectors/vectors.js';
import { givenFakeAlipay } from './fake-alipay.js';
import { givenFakeWechatPay } from './fake-wechatpay.js';
import { userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import { givenContext } from '../given/given-stores.js';

/**
 * Starts a whole service that pays at a fake platform over TLS, with a buyer.
 * @param options.environment the settings of the platform
 */
export async function givenPayingService(
  t: ExecutionContext,
  {
    provider,
    url,
    environment,
    timeMs,
  }: {
    readonly provider: PaymentProviderName;
    readonly url: string;
    readonly environment: Readonly<Record<string, string>>;
    readonly timeMs?: number;
  },
) {
  const { lines, log } = makeKeptLog();
  const service = await givenInProcess(t, {
    environment,
    log,
    platforms: {
      ...platformOptions,
      ...(timeMs === undefined ? {} : { timeMs }),
      allowedCidrs: ['127.0.0.0/8'],
      urls: { [provider]: url },
    },
  });
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('buyer@example.org', 'Correct-Horse-7');
  const read = async (path: string): Promise<JsonObject> => {
    const reply = await client.get(path, headers);
    t.is(reply.status, 200, reply.text);
    return reply.json();
  };
  const capacity = async (): Promise<number> =>
    Number(asObject((await read('/api/v1/auth/me'))['data'])['capacity_bytes']);
  return {
    ...service,
    client,
    headers,
    read,
    capacity,
    /** The buyer's capacity before the first order. */
    granted: await capacity(),
    /** The lines of the service's log. */
    lines,
    place: async (request: JsonObject = {}) => {
      const reply = await client.post(
        '/api/v1/orders',
        { plan_id: 'capacity-100g', provider, ...request },
        headers,
      );
      t.is(reply.status, 201, reply.text);
      const order = reply.json();
      return {
        id: textOf(order, 'id'),
        number: textOf(order, 'number'),
        path: `/api/v1/orders/${textOf(order, 'id')}`,
      };
    },
    pay: (orderPath: string, body: JsonObject = {}) => client.post(`${orderPath}/pay`, body, headers),
    /** Sends a callback as the platform does, and returns the service's status. */
    deliver: async ({ method, query, headers: signature, body }: SentCallback): Promise<number> => {
      const path = `/api/v1/payment/webhooks/${provider}${query}`;
      const init = { method, headers: { ...signature }, ...(method === 'GET' ? {} : { body }) };
      return (await client.send(path, init)).status;
    },
    /** Waits for the order's status. */
    becomes: async (orderPath: string, status: string): Promise<JsonObject> => {
      await eventually(`order ${status}`, async () => (await read(orderPath))['status'] === status);
      return read(orderPath);
    },
    /** Waits for the buyer's capacity. */
    holds: (bytes: number) => eventually(`capacity of ${bytes}`, async () => (await capacity()) === bytes),
  };
}

/** What the plan `capacity-100g` grants. */
export const planBytes = 107_374_182_400;

const now = (): Date => new Date();
const pem = (key: KeyObject): string =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString();
/** The header of a phone's browser. */
export const isPhone = {
  'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148',
};

/** A service that pays at WeChat Pay. @param timeMs the time limit of a call */
export async function givenWechatPayService(t: ExecutionContext, timeMs?: number) {
  const serial = 'PUB_KEY_ID_0114232134912410000000000000';
  const platform = await givenFakeWechatPay(t, {
    ...{ ...merchant.wechatpay, now, apiV3Key: secrets.wechatpayApiV3Key },
    ...{ merchantKey: merchantKeys.publicKey, merchantSerial },
    ...{ platformKey: platformKeys.privateKey, platformSerial: serial },
  });
  const service = await givenPayingService(t, {
    provider: 'wechatpay',
    url: `https://api.mch.weixin.qq.com:${platform.port}`,
    environment: {
      PAYMENT_WECHATPAY_API_V3_KEY: secrets.wechatpayApiV3Key,
      PAYMENT_WECHATPAY_MCHID: merchant.wechatpay.mchId,
      PAYMENT_WECHATPAY_APPID: merchant.wechatpay.appId,
      PAYMENT_WECHATPAY_KEYS_DIR: givenKeyDirectory(t, { [`${serial}.pem`]: pem(platformKeys.publicKey) }),
      PAYMENT_WECHATPAY_PRIVATE_KEY: pem(merchantKeys.privateKey),
      PAYMENT_WECHATPAY_SERIAL: merchantSerial,
    },
    ...(timeMs === undefined ? {} : { timeMs }),
  });
  return { platform, service };
}

/** A service that pays at Alipay. */
export async function givenAlipayService(t: ExecutionContext) {
  const { appId, sellerId } = merchant.alipay;
  const keys = { appKey: merchantKeys.publicKey, alipayKey: platformKeys.privateKey };
  const platform = await givenFakeAlipay(t, { appId, sellerId, now, ...keys });
  const service = await givenPayingService(t, {
    provider: 'alipay',
    url: `https://openapi.alipay.com:${platform.port}`,
    environment: {
      PAYMENT_ALIPAY_APP_ID: appId,
      PAYMENT_ALIPAY_SELLER_ID: sellerId,
      PAYMENT_ALIPAY_PUBLIC_KEYS: pem(platformKeys.publicKey),
      PAYMENT_ALIPAY_PRIVATE_KEY: pem(merchantKeys.privateKey),
    },
  });
  return { platform, service };
}

const email = 'operator@example.org';
/** Why money goes back. No log may contain it. */
export const refundNote = 'canary: the buyer asked';

/** Makes an operator with a second factor, who asks for refunds of an order over HTTP. */
export async function givenRefunds(
  t: ExecutionContext,
  { client, services }: Awaited<ReturnType<typeof givenPayingService>>,
  orderId: string,
) {
  const { headers, userId } = await client.register(email, 'Correct-Horse-8');
  const email_digest = services.digests.email(email);
  const target = { aggregate: userAggregate, id: userId };
  const contextOf = (n: number) => givenContext(n, new Date(), 'operator');
  await services.handler.handle(target, { type: 'VerifyEmail', email_digest }, contextOf(8_001));
  await services.commands.grantPlatformRole({ email, role: 'operator' }, contextOf(8_002));
  await addTotp(client, headers);

  /** Asks for a part, or for the rest. @param key the same for a repetition */
  const ask = (key: string, amount?: number) =>
    client.post(
      `/api/v1/orders/${orderId}/refund`,
      { note: refundNote, ...(amount === undefined ? {} : { amount }) },
      { ...headers, 'idempotency-key': key },
    );
  return {
    /** Returns the refund that the platform took on. */
    refund: async (key: string, amount?: number): Promise<JsonObject> => {
      const reply = await ask(key, amount);
      t.is(reply.status, 201, reply.text);
      return reply.json();
    },
    /** Returns status and code of a refund that is not made. */
    refused: async (key: string, amount?: number) => {
      const reply = await ask(key, amount);
      return [reply.status, reply.json()['code']];
    },
  };
}

/** A refund of 19 of 69 yuan. */
export const refundRequest = {
  ...{ orderNumber: paymentRequest.orderNumber, transactionId: '4200000000202601020000000001' },
  ...{ amount: { amount: 1_900, currency: 'CNY' }, paid: paymentRequest.price },
  ...{ callbackUrl: paymentRequest.callbackUrl, idempotencyKey: 'refund-1' },
};

/** Answers every request with an object without a signature. */
export async function givenRecorder(t: ExecutionContext) {
  const methods = ['refund', 'query', 'fastpay_refund_query'];
  const replies = methods.map((method) => [`alipay_trade_${method}_response`, { code: '10000' }]);
  const body = JSON.stringify(Object.fromEntries(replies));
  const reply = { status: 200, headers: { 'content-type': 'application/json' }, body };
  return givenPlatformServer(t, () => reply, { isPlain: true });
}

/** Returns the parts of a request that a platform reads. */
export function partsRead(request: ReceivedRequest | undefined) {
  const { method, path, body, headers } = request ?? { method: '', path: '', body: '', headers: {} };
  const form = 'application/x-www-form-urlencoded';
  const type = headers['content-type'] ?? '';
  return {
    method,
    path,
    body,
    authorization: headers.authorization,
    keys: [
      headers['idempotency-key'],
      headers['stripe-version'],
      headers['paypal-request-id'],
      headers['prefer'],
    ],
    type: type.startsWith(form) ? form : type,
  };
}

/**
 * Makes each call twice, as ours and by an SDK, and checks that both requests agree in the parts that a platform reads.
 * The call of the SDK gets our request.
 */
export async function thenRequestsAgree(
  t: ExecutionContext,
  { requests }: { readonly requests: readonly ReceivedRequest[] },
  calls: readonly (readonly [
    ours: () => Promise<unknown>,
    theirs: (sent: ReceivedRequest | undefined) => Promise<unknown>,
  ])[],
): Promise<void> {
  for (const [ours, theirs] of calls) {
    await failureOf(ours());
    const sent = requests.at(-1);
    await theirs(sent);
    t.deepEqual(partsRead(requests.at(-1)), partsRead(sent));
    t.not(requests.at(-1), sent);
  }
}
