import { type KeyObject, sign } from 'node:crypto';
import { chinaTime } from '../money.js';
import { PlatformError } from '../payment-maker.js';
import { type Fields, at, decodeBase64, readJsonObject, textAt } from '../calls/parsing.js';
import { signedText } from '../calls/forms.js';
import { type CallPlatform, platformCode, unreadableReply } from '../calls/platform-calls.js';
import { firstThat, holdsRsaSha256 } from '../keys/verification.js';

/** What signs the requests of an app. */
export interface AlipaySigner {
  readonly appId: string;
  readonly privateKey: KeyObject;
  /** `https://openapi.alipay.com/gateway.do`, or that of the sandbox. */
  readonly gateway: string;
}

/** A call: its method, its `biz_content`, and the addresses of a payment. */
interface AlipayCall {
  readonly method: string;
  readonly content: Fields;
  readonly addresses?: { readonly notify_url: string; readonly return_url?: string };
}

/**
 * Signs a call ("Sign a request", RSA2): SHA256withRSA over the sorted parameters `name=value&…`, unescaped, by the
 * app's key. The URL has all parameters except `biz_content`.
 */
export function signAlipayCall(
  { appId, privateKey, gateway }: AlipaySigner,
  { method, content, addresses }: AlipayCall,
  at: Date,
): { readonly url: string; readonly content: string } {
  const common: Readonly<Record<string, string>> = {
    ...{ method, app_id: appId, charset: 'utf-8', version: '1.0', sign_type: 'RSA2' },
    ...{ timestamp: chinaTime(at), ...addresses },
  };
  const json = JSON.stringify(content);
  const form = new Map(Object.entries({ ...common, biz_content: json }));
  const text = signedText(form, [...form.keys()]);
  const signature = sign('sha256', Buffer.from(text), privateKey).toString('base64');
  return {
    url: `${gateway}?${new URLSearchParams({ ...common, sign: signature }).toString()}`,
    content: json,
  };
}

/** Sends a call, and returns the verified reply with the code 10000 (success). @throws PlatformError */
export type AlipayClient = ReturnType<typeof makeAlipayClient>;

/** Makes the client of Alipay's gateway. The reply is signed over the bytes of `<method>_response`. */
export function makeAlipayClient(deps: {
  readonly signer: AlipaySigner;
  /** Alipay's keys, as for callbacks. */
  readonly publicKeys: readonly KeyObject[];
  readonly call: CallPlatform;
  readonly now: () => Date;
}) {
  const { signer, publicKeys, call, now } = deps;
  return async (asked: AlipayCall) => {
    const { url, content } = signAlipayCall(signer, asked, now());
    const reply = await call({
      method: 'POST',
      url,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(new URLSearchParams({ biz_content: content }).toString()),
    });
    // The gateway answers 200 with a code, also to what it refuses.
    if (reply.status !== 200) throw new PlatformError('refused', `status_${reply.status}`);
    return open(reply.body, `${asked.method.replaceAll('.', '_')}_response`);
  };

  async function open(body: Buffer, name: string): Promise<Fields> {
    const message = await readJsonObject(body);
    const answer = at(message, name) ?? at(message, 'error_response');
    const code = textAt(answer, 'code');
    if (code === null) return unreadableReply();
    if (code !== '10000') throw failureOf(code, textAt(answer, 'sub_code'));
    const signature = decodeBase64(textAt(message, 'sign', 1_024) ?? '');
    const signed = signedPart(body.toString('latin1'), name);
    // Without a genuine signature, nothing that the reply says counts.
    if (signature === null || signed === null || !(await isSigned(signed, signature)))
      throw new PlatformError('outcome_unknown', 'reply_not_genuine');
    return (await readJsonObject(signed)) ?? unreadableReply();
  }

  async function isSigned(content: Buffer, signature: Buffer): Promise<boolean> {
    return (await firstThat(publicKeys, (key) => holdsRsaSha256(content, key, signature))) !== undefined;
  }
}

/** Errors of Alipay's that say nothing about the outcome ("Public error codes", and the codes of each method). */
function failureOf(code: string, subCode: string | null): PlatformError {
  const told = platformCode(subCode) ?? platformCode(code);
  if (code === '20000' || /SYSTEM_ERROR|REFUND_ROLL_BACK_FAIL/.test(subCode ?? ''))
    return new PlatformError('outcome_unknown', told);
  const isLimited = /call-limited|CALL_LIMITED|TRADE_SYNCHRONIZING/i.test(subCode ?? '');
  return new PlatformError(isLimited ? 'unavailable' : 'refused', told);
}

/** Returns the bytes of the object with this name, which must be the first field of the message. */
function signedPart(body: string, name: string): Buffer | null {
  const begin = new RegExp(`^\\s*\\{\\s*"${name}"\\s*:\\s*(?=\\{)`).exec(body)?.[0].length;
  if (begin === undefined) return null;
  let depth = 0;
  let isText = false;
  for (let index = begin; index < body.length; index += 1) {
    const character = body.charAt(index);
    if (isText && character === '\\') index += 1;
    else if (character === '"') isText = !isText;
    else if (!isText && character === '{') depth += 1;
    else if (!isText && character === '}') depth -= 1;
    if (depth === 0) return Buffer.from(body.slice(begin, index + 1), 'latin1');
  }
  return null;
}
