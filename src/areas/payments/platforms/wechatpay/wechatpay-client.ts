import { type KeyObject, sign } from 'node:crypto';
import type { OutgoingReply, OutgoingRequest } from '../../../../outgoing/outgoing-http.js';
import { PlatformError } from '../payment-maker.js';
import { type Fields, decodeBase64 } from '../calls/parsing.js';
import type { CallPlatform } from '../calls/platform-calls.js';
import { fieldsOfReply } from '../calls/platform-replies.js';
import { holdsRsaSha256, isWithinTolerance } from '../keys/verification.js';
import type { WechatPayKeys } from './wechatpay-keys.js';

const scheme = 'WECHATPAY2-SHA256-RSA2048';

/** What signs the requests of a merchant. */
export interface WechatPaySigner {
  readonly mchId: string;
  readonly privateKey: KeyObject;
  /** The serial number of the merchant's API certificate, in upper-case hex. */
  readonly serial: string;
}

/** One request of API v3. `path` has the query. */
export interface WechatPayRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly json?: Fields;
}

/** Sends a request, and returns the verified reply. @throws PlatformError */
export type WechatPayClient = (request: WechatPayRequest) => Promise<Fields>;

/**
 * Makes the client of WeChat Pay API v3 ("Sign the request", "Verify the signature"): RSA-SHA256 over
 * `<method>\n<path>\n<timestamp>\n<nonce>\n<body>\n` by the merchant's key. The platform signs its replies as it signs
 * callbacks.
 * @param deps.baseUrl without a slash at its end
 */
export function makeWechatPayClient({
  baseUrl,
  signer,
  keys,
  call,
  now,
  makeNonce,
}: {
  readonly baseUrl: string;
  readonly signer: WechatPaySigner;
  readonly keys: WechatPayKeys;
  readonly call: CallPlatform;
  readonly now: () => Date;
  /** Returns up to 32 letters and digits, different for each request. */
  readonly makeNonce: () => string;
}): WechatPayClient {
  return async (request) => {
    const reply = await call(signed(request));
    // Throws for an error. The platform signs errors too, but TLS is enough for a refusal.
    const fields = await fieldsOfReply(reply, ['code']);
    // Without a genuine signature, nothing that the reply says counts.
    if (!(await isGenuine(reply))) throw new PlatformError('outcome_unknown', 'reply_not_genuine');
    return fields;
  };

  function signed({ method, path, json }: WechatPayRequest): OutgoingRequest {
    const body = json === undefined ? '' : JSON.stringify(json);
    const time = String(Math.floor(now().getTime() / 1_000));
    const nonce = makeNonce();
    const text = [method, path, time, nonce, body, ''].join('\n');
    const signature = sign('sha256', Buffer.from(text), signer.privateKey).toString('base64');
    const authorization =
      `${scheme} mchid="${signer.mchId}",serial_no="${signer.serial}",` +
      `timestamp="${time}",nonce_str="${nonce}",signature="${signature}"`;
    return {
      method,
      url: `${baseUrl}${path}`,
      headers: {
        authorization,
        // The platform refuses requests without these.
        accept: 'application/json',
        'user-agent': 'stowage',
        'content-type': 'application/json; charset=utf-8',
      },
      ...(json === undefined ? {} : { body: Buffer.from(body) }),
    };
  }

  async function isGenuine({ headers, body }: OutgoingReply): Promise<boolean> {
    const time = headers['wechatpay-timestamp'] ?? '';
    const nonce = headers['wechatpay-nonce'] ?? '';
    const signature = decodeBase64(headers['wechatpay-signature'] ?? '');
    const key = keys(headers['wechatpay-serial'] ?? '', now());
    if (signature === null || key === null || !/^\d{1,12}$/.test(time)) return false;
    const text = Buffer.concat([Buffer.from(`${time}\n${nonce}\n`), body, Buffer.from('\n')]);
    return (await holdsRsaSha256(text, key.key, signature)) && isWithinTolerance(time, now());
  }
}
