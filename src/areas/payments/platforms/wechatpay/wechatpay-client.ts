import { type KeyObject, sign } from 'node:crypto';
import type { OutgoingReply, OutgoingRequest } from '../../../../outgoing/outgoing-http.js';
import { PlatformError } from '../payment-maker.js';
import type { Refusal } from '../payment-provider.js';
import { type Fields, decodeBase64 } from '../calls/parsing.js';
import { type CallPlatform, fieldsOfReply } from '../calls/platform-calls.js';
import { holdsRsaSha256, isWithinTolerance } from '../keys/verification.js';
import { type VerifyingKey, isValidAt, parseCertificate, parsePublicKey } from '../keys/certificates.js';
import { type KeyDirectoryFile, KeyDirectoryProblem, makeKeyDirectory } from '../keys/key-directory.js';

/** Finds a valid key of the platform by its name in `Wechatpay-Serial`. */
export type WechatPayKeys = ReturnType<typeof makeWechatPayKeys>;

/**
 * Reads certificates and public keys from `PAYMENT_WECHATPAY_KEYS_DIR`. While a merchant moves from certificates to
 * public keys, both sign. The serial number names a certificate. A public key contains no name, so its file has the
 * name: `PUB_KEY_ID_….pem`.
 * @throws KeyDirectoryProblem
 */
export function makeWechatPayKeys(path: string, report: (problem: string) => void) {
  const directory = makeKeyDirectory({ path, parse: parseKeys, report });
  return (serial: string, now: Date) => {
    const key = directory(now).get(serial);
    return key !== undefined && isValidAt(key, now) ? key : null;
  };
}

/** @throws KeyDirectoryProblem */
function parseKeys(files: readonly KeyDirectoryFile[]): ReadonlyMap<string, VerifyingKey> {
  const keys = new Map(files.map(parseKey));
  if (keys.size === 0)
    throw new KeyDirectoryProblem('there is no certificate or public key of the platform (.pem)');
  return keys;
}

function parseKey({ name, text }: KeyDirectoryFile): readonly [string, VerifyingKey] {
  const certificate = parseCertificate(text);
  if (certificate !== null) return [certificate.serialNumber, certificate];
  const key = parsePublicKey(text);
  if (key === null) {
    throw new KeyDirectoryProblem(
      `${name}.pem is neither a certificate nor a public key (RSA, 2048 bits or more)`,
    );
  }
  if (!/^PUB_KEY_ID_[0-9A-Za-z]{1,100}$/.test(name)) {
    throw new KeyDirectoryProblem(
      `${name}.pem is a public key: name it PUB_KEY_ID_….pem, by the id that the platform gives it`,
    );
  }
  return [name, { key, validFrom: Number.NEGATIVE_INFINITY, validTo: Number.POSITIVE_INFINITY }];
}

/** What signs requests, replies and callbacks. */
const scheme = 'WECHATPAY2-SHA256-RSA2048';

/** What signs the requests of a merchant. */
interface WechatPaySigner {
  readonly mchId: string;
  readonly privateKey: KeyObject;
  /** The serial number of the merchant's API certificate, in upper-case hex. */
  readonly serial: string;
}

/** One request of API v3. `path` has the query. */
interface WechatPayRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly json?: Fields;
}

/** Sends a request, and returns the verified reply. @throws PlatformError */
export type WechatPayClient = ReturnType<typeof makeWechatPayClient>;

/**
 * Makes the client of WeChat Pay API v3 ("Sign the request", "Verify the signature"): RSA-SHA256 over
 * `<method>\n<path>\n<timestamp>\n<nonce>\n<body>\n` by the merchant's key. The platform signs its replies as it signs
 * callbacks.
 * @param deps.baseUrl without a slash at its end
 */
export function makeWechatPayClient(deps: {
  readonly baseUrl: string;
  readonly signer: WechatPaySigner;
  readonly keys: WechatPayKeys;
  readonly call: CallPlatform;
  readonly now: () => Date;
  /** Returns up to 32 letters and digits, different for each request. */
  readonly makeNonce: () => string;
}) {
  const { baseUrl, signer, keys, call, now, makeNonce } = deps;
  return async (request: WechatPayRequest) => {
    const reply = await call(signed(request));
    // Throws for an error. The platform signs errors too, but TLS is enough for a refusal.
    const fields = await fieldsOfReply(reply, ['code']);
    // Without a genuine signature, nothing that the reply says counts.
    if ((await judgeSigned(reply, keys, now())) !== null)
      throw new PlatformError('outcome_unknown', 'reply_not_genuine');
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
}

/**
 * Judges the signature of a callback or a reply ("Verify the signature"): RSA-SHA256 over `<timestamp>\n<nonce>\n<raw body>\n`
 * by the key that `Wechatpay-Serial` names. Returns null for a genuine one.
 */
export async function judgeSigned(
  { headers, body }: Pick<OutgoingReply, 'headers' | 'body'>,
  keys: WechatPayKeys,
  now: Date,
): Promise<Refusal | null> {
  const signed = parseSigned(headers);
  if (signed === null) return 'malformed';
  const { time, nonce, serial, signature } = signed;
  const key = keys(serial, now);
  if (key === null) return 'unknown_key';
  const content = Buffer.concat([Buffer.from(`${time}\n${nonce}\n`), body, Buffer.from('\n')]);
  if (!(await holdsRsaSha256(content, key.key, signature))) return 'wrong_signature';
  return isWithinTolerance(time, now) ? null : 'out_of_time';
}

function parseSigned(headers: OutgoingReply['headers']) {
  const time = headers['wechatpay-timestamp'] ?? '';
  const nonce = headers['wechatpay-nonce'] ?? '';
  const serial = headers['wechatpay-serial'] ?? '';
  const signature = decodeBase64(headers['wechatpay-signature'] ?? '');
  const algorithm = headers['wechatpay-signature-type'] ?? scheme;
  if (signature === null || algorithm !== scheme) return null;
  if (!/^\d{1,12}$/.test(time) || !/^[\x21-\x7e]{1,64}$/.test(nonce)) return null;
  return { time, nonce, serial, signature };
}
