/*
 * Compares the requests to payment platforms, byte by byte, with those of the platforms' SDKs in SDK_FOLDER: method, path,
 * query, body, signature and the headers that the platforms read. Time and nonce are given.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import { makeAlipayClient } from '../../src/areas/payments/platforms/alipay/alipay-client.js';
import {
  makeAlipayMaker,
  makeAlipayQueries,
} from '../../src/areas/payments/platforms/alipay/alipay-maker.js';
import { chinaTime } from '../../src/areas/payments/platforms/money.js';
import { makeWechatPayClient } from '../../src/areas/payments/platforms/wechatpay/wechatpay-client.js';
import { makeWechatPayMaker } from '../../src/areas/payments/platforms/wechatpay/wechatpay-maker.js';
import { makeWechatPayQueries } from '../../src/areas/payments/platforms/wechatpay/wechatpay-query.js';
import {
  makeTestCall,
  merchantKeys,
  merchantSerial,
  paymentRequest,
} from '../areas/payments/platforms/makers/given-makers.js';
import { arrivesAt, merchant } from '../areas/payments/platforms/messages/messages.js';
import type { ReceivedRequest } from '../support/platforms/platform-server.js';
import {
  thenRequestsAgree,
  givenRecorder,
  refundRequest as refund,
} from '../support/platforms/paying-services.js';
import { suiteWith } from '../support/suite.js';

const now = (): Date => arrivesAt;
const nonce = 'TestOnlyNonce0123456789TestOnly0';
const privateKey = merchantKeys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const what = 'Requests are compared with those of SDKs when SDK_FOLDER contains them';
suiteWith(test, process.env['SDK_FOLDER'] || undefined, what, (folder) => {
  compare(createRequire(join(folder, 'package.json')));
});

function compare(load: NodeJS.Require): void {
  for (const subMchId of [null, '1900007777']) {
    test(`Requests of WeChat Pay equal those of wechatpay-axios-plugin (${subMchId ?? 'direct'})`, async (t) => {
      // given
      const server = await givenRecorder(t);
      const ours = { ...merchant.wechatpay, subMchId };
      const baseUrl = `http://127.0.0.1:${server.port}`;
      const signer = { mchId: ours.mchId, privateKey: merchantKeys.privateKey, serial: merchantSerial };
      const keys = () => null;
      const call = makeTestCall();
      const client = makeWechatPayClient({ baseUrl, signer, keys, call, now, makeNonce: () => nonce });
      const maker = {
        ...makeWechatPayMaker({ merchant: ours, client, now }),
        ...makeWechatPayQueries({ merchant: ours, client }),
      };
      const sdk = loadWechatPay(load, { baseUrl, mchid: ours.mchId });
      const calls = [
        () => maker.makePayment(paymentRequest),
        () => maker.makePayment({ ...paymentRequest, isMobile: true }),
        () => maker.refund?.(refund) ?? Promise.resolve(),
        () => maker.query(paymentRequest.orderNumber),
        () => maker.queryRefund({ ...refund, refundId: 'refund-1' }),
      ];
      const theirs = async (sent: ReceivedRequest | undefined): Promise<unknown> => {
        const { method, path, body } = sent ?? { method: '', path: '', body: '' };
        return sdk(method, path, body === '' ? undefined : JSON.parse(body)).catch(() => undefined);
      };
      // when, then
      await thenRequestsAgree(
        t,
        server,
        calls.map((ours) => [ours, theirs]),
      );
      t.is(server.requests.length, 10);
    });
  }

  test('Requests of Alipay equal those of alipay-sdk', async (t) => {
    // given
    const server = await givenRecorder(t);
    const gateway = `http://127.0.0.1:${server.port}/gateway.do`;
    const { appId, sellerId } = merchant.alipay;
    const signer = { appId, privateKey: merchantKeys.privateKey, gateway };
    const client = makeAlipayClient({ signer, publicKeys: [], call: makeTestCall(), now });
    const maker = { ...makeAlipayMaker({ signer, client, now }), ...makeAlipayQueries({ client, sellerId }) };
    const { AlipaySdk } = load('alipay-sdk') as AlipayModule;
    const sdk = new AlipaySdk({ appId, privateKey, gateway });
    const timestamp = chinaTime(arrivesAt);
    const calls = [
      () => maker.refund?.(refund) ?? Promise.resolve(),
      () => maker.query('X0001'),
      () => maker.queryRefund({ ...refund, refundId: 'refund-1' }),
    ];
    const theirs = async (sent: ReceivedRequest | undefined): Promise<unknown> => {
      const { method, notify_url, content } = partsOf(sent);
      const notified = notify_url === null ? {} : { notify_url };
      return sdk.exec(method, { timestamp, ...notified, bizContent: content });
    };
    // when, then
    await thenRequestsAgree(
      t,
      server,
      calls.map((ours) => [ours, theirs]),
    );
  });

  for (const isMobile of [false, true]) {
    test(`The address of a payment equals that of alipay-sdk (${isMobile ? 'phone' : 'computer'})`, async (t) => {
      // given
      const gateway = 'https://openapi.alipay.com/gateway.do';
      const { appId } = merchant.alipay;
      const signer = { appId, privateKey: merchantKeys.privateKey, gateway };
      const client = makeAlipayClient({ signer, publicKeys: [], call: makeTestCall(), now });
      const maker = makeAlipayMaker({ signer, client, now });
      const { AlipaySdk } = load('alipay-sdk') as AlipayModule;
      const sdk = new AlipaySdk({ appId, privateKey, gateway });
      // when
      const { url } = await maker.makePayment({ ...paymentRequest, isMobile });
      // then
      const { searchParams } = new URL(url);
      const method = searchParams.get('method') ?? '';
      const parameters = {
        timestamp: chinaTime(arrivesAt),
        notify_url: paymentRequest.callbackUrl,
        return_url: paymentRequest.returnUrl,
        bizContent: JSON.parse(searchParams.get('biz_content') ?? '') as unknown,
      };
      const signature = new URLSearchParams(sdk.sdkExecute(method, parameters)).get('sign');
      t.is(searchParams.get('sign'), signature);
      // `pageExecute` adds and signs a parameter with the SDK's own name.
      const page = sdk.pageExecute(method, 'GET', parameters).replace(/&alipay_sdk=[^&]*/, '');
      t.is(url, page.replace(/([?&]sign=)[^&]*/, `$1${encodeURIComponent(signature ?? '')}`));
    });
  }
}

interface AlipayModule {
  readonly AlipaySdk: new (config: object) => {
    exec(method: string, parameters: object): Promise<unknown>;
    sdkExecute(method: string, parameters: object): string;
    pageExecute(method: string, httpMethod: 'GET', parameters: object): string;
  };
}

function partsOf(request: ReceivedRequest | undefined) {
  const { searchParams } = new URL(request?.path ?? '', 'https://openapi.alipay.com');
  const content = new URLSearchParams(request?.body ?? '').get('biz_content') ?? '{}';
  return {
    method: searchParams.get('method') ?? '',
    notify_url: searchParams.get('notify_url'),
    content: JSON.parse(content) as unknown,
  };
}

/** Makes a caller of the plugin whose time and nonce are ours. */
function loadWechatPay(
  load: NodeJS.Require,
  { baseUrl, mchid }: { readonly baseUrl: string; readonly mchid: string },
) {
  const { Wechatpay, Formatter } = load('wechatpay-axios-plugin') as {
    readonly Wechatpay: new (config: object) => {
      readonly client: { readonly v3: { request(config: object): Promise<unknown> } };
    };
    readonly Formatter: { nonce: () => string; timestamp: () => number };
  };
  Formatter.nonce = () => nonce;
  Formatter.timestamp = () => Math.floor(arrivesAt.getTime() / 1_000);
  const certs = { PUB_KEY_ID_1: merchantKeys.publicKey };
  const wechatpay = new Wechatpay({
    ...{ mchid, serial: merchantSerial, privateKey, certs, secret: '0'.repeat(32), baseURL: baseUrl },
  });
  return (method: string, url: string, data: unknown) =>
    wechatpay.client.v3.request({ method, url, ...(data === undefined ? {} : { data }) });
}
