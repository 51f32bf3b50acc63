import { createCipheriv, createHash, createHmac, type KeyObject, sign } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';

/** A callback as its platform sends it. */
export interface SentCallback {
  readonly method: 'GET' | 'POST';
  /** The query with its `?`. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const json = { 'content-type': 'application/json' };

/**
 * Signs a message of Standard Webhooks, `v1`.
 * @param options.secret `whsec_…`
 */
export function signStandard(
  message: JsonObject,
  { id, secret, at }: { readonly id: string; readonly secret: string; readonly at: Date },
): SentCallback {
  const body = JSON.stringify(message);
  const time = secondsOf(at);
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
  return { method: 'POST', query: '', headers: { ...json, ...headers }, body };
}

/** Signs a Stripe event, `v1`. */
export function signStripe(
  event: JsonObject,
  { secret, at }: { readonly secret: string; readonly at: Date },
): SentCallback {
  const body = JSON.stringify(event);
  const time = secondsOf(at);
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  return {
    method: 'POST',
    query: '',
    headers: { ...json, 'stripe-signature': `t=${time},v1=${signature}` },
    body,
  };
}

/**
 * Signs a WeChat Pay message, API v3: the resource is sealed, and the whole message is signed.
 * @param options.serial the platform's name of its key
 */
export function signWechatPay(
  message: JsonObject,
  resource: JsonObject,
  {
    apiV3Key,
    privateKey,
    serial,
    nonce,
    at,
  }: {
    readonly apiV3Key: string;
    readonly privateKey: KeyObject;
    readonly serial: string;
    /** 12 characters, different for each delivery. */
    readonly nonce: string;
    readonly at: Date;
  },
): SentCallback {
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(apiV3Key), Buffer.from(nonce));
  cipher.setAAD(Buffer.from('transaction'));
  const sealed = [cipher.update(JSON.stringify(resource), 'utf8'), cipher.final()];
  const ciphertext = Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64');
  const body = JSON.stringify({
    ...message,
    resource: { algorithm: 'AEAD_AES_256_GCM', ciphertext, associated_data: 'transaction', nonce },
  });
  const time = secondsOf(at);
  const signature = sign('sha256', Buffer.from(`${time}\n${nonce}\n${body}\n`), privateKey);
  const headers = {
    'wechatpay-timestamp': time,
    'wechatpay-nonce': nonce,
    'wechatpay-serial': serial,
    'wechatpay-signature': signature.toString('base64'),
  };
  return { method: 'POST', query: '', headers: { ...json, ...headers }, body };
}

/**
 * Signs a PayPal event of REST webhooks.
 * @param options.id the id of the transmission
 * @param options.certificateUrl the claimed URL of the certificate
 */
export function signPayPal(
  event: JsonObject,
  {
    id,
    webhookId,
    privateKey,
    certificateUrl,
    at,
  }: {
    readonly id: string;
    readonly webhookId: string;
    readonly privateKey: KeyObject;
    readonly certificateUrl: string;
    readonly at: Date;
  },
): SentCallback {
  const body = JSON.stringify(event);
  const time = at.toISOString();
  const text = `${id}|${time}|${webhookId}|${crc32(body)}`;
  const headers = {
    'paypal-transmission-id': id,
    'paypal-transmission-time': time,
    'paypal-transmission-sig': sign('sha256', Buffer.from(text), privateKey).toString('base64'),
    'paypal-cert-url': certificateUrl,
    'paypal-auth-algo': 'SHA256withRSA',
  };
  return { method: 'POST', query: '', headers: { ...json, ...headers }, body };
}

/** Signs an Alipay notification with RSA2, sent by POST. */
export function signAlipay(
  fields: Readonly<Record<string, string>>,
  { privateKey }: { readonly privateKey: KeyObject },
): SentCallback {
  const signature = sign('sha256', Buffer.from(sortedText(fields)), privateKey).toString('base64');
  return {
    method: 'POST',
    query: '',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body: new URLSearchParams({ ...fields, sign: signature, sign_type: 'RSA2' }).toString(),
  };
}

/** Signs an epay notification, sent by GET. */
export function signEpay(
  fields: Readonly<Record<string, string>>,
  { key }: { readonly key: string },
): SentCallback {
  const signature = createHash('md5')
    .update(`${sortedText(fields)}${key}`)
    .digest('hex');
  const query = new URLSearchParams({ ...fields, sign: signature, sign_type: 'MD5' }).toString();
  return { method: 'GET', query: `?${query}`, headers: {}, body: '' };
}

/** Returns the text that Alipay and epay sign: the fields sorted by name, unescaped. */
function sortedText(fields: Readonly<Record<string, string>>): string {
  return Object.keys(fields)
    .sort()
    .map((name) => `${name}=${fields[name] ?? ''}`)
    .join('&');
}

function secondsOf(at: Date): string {
  return String(Math.floor(at.getTime() / 1_000));
}
