import { createHash, timingSafeEqual } from 'node:crypto';
import { cutText } from '../../../../validation/text.js';
import { type Form, isAmbiguous, parseForm, signedText } from '../calls/forms.js';
import type { PaymentFact } from '../../domain/fact.js';
import { decimalAmount, yuan } from '../money.js';
import { type Refusal, type Verification, type Verify, acknowledgedSuccess } from '../payment-provider.js';
import { definePlatform } from '../platform.js';
import { type SettingReads, matching } from '../setting-reads.js';
import { nothing, refused, unreadable, verified, verifiedUnreadable } from '../keys/verification.js';
import { type PaymentMaker, type PaymentRequest, PlatformError } from '../payment-maker.js';

/** The signed text has no escaping, so a title must not contain its separators. */
const separators = /[&=]/g;
const titleMax = 60;

/**
 * Makes payments of an epay gateway: a form that the buyer's browser posts to `submit.php`. It has no `type`, so the
 * gateway lets the buyer choose among its ways. There is no call: the signature is MD5 over the sorted fields and the
 * merchant's key.
 * @param deps.gateway the https address of the gateway, without a slash at its end
 * @param deps.key the first key of `PAYMENT_EPAY_KEYS`
 */
export function makeEpayMaker(deps: {
  readonly gateway: string;
  readonly pid: string;
  readonly key: string;
}): PaymentMaker {
  const { gateway, pid, key } = deps;
  return {
    makePayment: async (request) => {
      const fields = fieldsOf(request);
      // The text that is signed has no escaping, so a value with a separator could imitate the fields of a callback.
      if (Object.values(fields).some((value) => value.includes('&')))
        throw new PlatformError('refused', 'return_url_with_several_parameters');
      const text = signedText(new Map(Object.entries(fields)), Object.keys(fields));
      const sign = createHash('md5').update(text).update(key).digest('hex');
      return Promise.resolve({
        kind: 'form',
        url: `${gateway}/submit.php`,
        fields: { ...fields, sign, sign_type: 'MD5' },
        expiresAt: request.expiresAt,
        reference: null,
      });
    },
  };

  function fieldsOf(request: PaymentRequest): Readonly<Record<string, string>> {
    const { callbackUrl, title, returnUrl } = request;
    return {
      pid,
      out_trade_no: request.orderNumber,
      notify_url: callbackUrl,
      // Gateways require an address.
      return_url: returnUrl ?? new URL('/', callbackUrl).href,
      name: cutText(title.replaceAll(separators, ' '), titleMax),
      money: yuan(request.price),
    };
  }
}

const variables = {
  PAYMENT_EPAY_ENABLED: 'open',
  PAYMENT_EPAY_PID: 'open',
  PAYMENT_EPAY_GATEWAY_URL: 'open',
  PAYMENT_EPAY_KEYS: 'secret',
} as const;
type Reads = SettingReads<keyof typeof variables>;

export const epay = definePlatform({
  name: 'epay',
  settings: { variables, read: readSettings },
  currencies: { default: 'CNY', is_only: true },
  number_fields: ['out_trade_no'],
  acknowledgement: acknowledgedSuccess,
  get: 'settles',
  verify: verifyEpay,
  client: ({ api, pid, keys: [key] }) => (api === null || key === undefined ? null : { ...api, pid, key }),
  make: makeEpayMaker,
});

/** Epay is off unless it is enabled, even if its other variables are set. */
function readSettings(reads: Reads) {
  if (reads.truth('PAYMENT_EPAY_ENABLED') !== true) return null;
  if (!reads.hasAll(['PAYMENT_EPAY_PID', 'PAYMENT_EPAY_KEYS'])) return null;
  const pid = reads.one('PAYMENT_EPAY_PID', /^[0-9A-Za-z_-]{1,128}$/, 'the id of the merchant');
  const keys = reads.list(
    'PAYMENT_EPAY_KEYS',
    matching(/^[\x21-\x7e]{16,128}$/),
    'a key of 16 characters or more',
  );
  return pid === null || keys === null ? null : { pid, keys, api: readApi(reads) };
}

/** Reads the address of the gateway, to which buyers' browsers post. Null: the service makes no forms. */
function readApi({ read, problem }: Reads) {
  const text = read('PAYMENT_EPAY_GATEWAY_URL')?.trim().replace(/\/$/, '');
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null && url.protocol === 'https:' && url.username === '' && url.search === '' && url.hash === '';
  return isPlain
    ? { gateway: text }
    : problem('PAYMENT_EPAY_GATEWAY_URL', 'must be the https address of the gateway, without a query');
}

const unsignedNames = new Set(['sign', 'sign_type']);
/**
 * Parameters of a request for a payment, which no callback has. The service signs such requests with the key of callbacks,
 * and a buyer chooses a part of them. So a text that contains one of these names is a request, and never a callback.
 */
const requestNames = ['notify_url', 'return_url'];
/** Names that no value may imitate. Newer gateways sign further parameters, for example api_trade_no and buyer. */
const knownNames = new Set([
  ...['pid', 'trade_no', 'out_trade_no', 'type', 'name', 'money', 'trade_status', 'param'],
  ...unsignedNames,
  ...requestNames,
]);

/** The parameters that the service uses. Names of goods are absent: the gateway may replace them. */
const recordedNames = ['pid', 'trade_no', 'out_trade_no', 'money', 'trade_status'];

/**
 * Verifies callbacks of epay, the interface of many Chinese gateways, by GET or POST. The signature, MD5 over the sorted
 * parameters and the merchant's key, is weak, so the platform is off unless it is enabled. The key of a payment is the
 * gateway's trade_no, which reports each payment once. Other callbacks about the trade get other keys, so that the
 * payment is no conflict with them.
 */
export function verifyEpay(settings: { readonly pid: string; readonly keys: readonly string[] }): Verify {
  const { pid, keys } = settings;
  return async ({ method, query, body }) => {
    // Some gateways POST with the parameters in the query.
    const form = parseForm(method === 'GET' || body.length === 0 ? Buffer.from(query, 'latin1') : body);
    if (form === null) return refused('malformed');
    const refusal = judge(form);
    return refusal === null ? read(form) : refused(refusal);
  };

  function judge(form: Form): Refusal | null {
    const sign = form.get('sign') ?? '';
    // Some gateways write the digest in upper case.
    if (
      !/^(?:[0-9a-f]{32}|[0-9A-F]{32})$/.test(sign) ||
      (form.get('sign_type') ?? 'MD5').toUpperCase() !== 'MD5'
    )
      return 'malformed';
    if (!isUnambiguous(form)) return 'malformed';
    const text = textOf(form);
    const isGenuine = keys.some((key) => {
      const expected = createHash('md5').update(text, 'latin1').update(key).digest();
      return timingSafeEqual(expected, Buffer.from(sign, 'hex'));
    });
    return isGenuine ? null : 'wrong_signature';
  }

  async function read(form: Form): Promise<Verification> {
    const content = Buffer.from(textOf(form), 'latin1');
    const order_number = form.get('out_trade_no') ?? '';
    const transaction_id = form.get('trade_no') ?? '';
    if (!isId(order_number)) return verifiedUnreadable('out_trade_no', content);
    if (!isId(transaction_id)) return verifiedUnreadable('trade_no', content);
    return verified({
      key: keyOf(form, transaction_id),
      isOurs: form.get('pid') === pid,
      notifications: [{ order_number, transaction_id, fact: factOf(form), at: null }],
      fields: recordedNames.map((name) => [name, form.get(name) ?? '']),
    });
  }
}

function textOf(form: Form): string {
  const isSigned = (name: string): boolean => !unsignedNames.has(name) && form.get(name) !== '';
  return signedText(form, [...form.keys()].filter(isSigned));
}

/**
 * Returns whether the signed text has one reading. Without escaping, values that a buyer chooses could imitate
 * parameters. Each parameter that the service uses is then a field of the form once, and no value contains another. With MD5, an attacker can make two texts with one digest, but these need control characters or broken
 * UTF-8.
 */
function isUnambiguous(form: Form): boolean {
  if (![...form.keys()].every((name) => /^[a-z][a-z0-9_]{0,31}$/.test(name))) return false;
  if (requestNames.some((name) => form.has(name))) return false;
  if (isAmbiguous(form, [...knownNames, ...form.keys()])) return false;
  // A parameter that the service does not know could be moved into the value before it.
  if (recordedNames.some((name) => form.get(name)?.includes('&'))) return false;
  return [...form.values()].every((value) => isPrintableUtf8(Buffer.from(value, 'latin1')));
}

function isPrintableUtf8(bytes: Buffer): boolean {
  try {
    return !/\p{Cc}/u.test(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // Not UTF-8.
    return false;
  }
}

function isId(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text);
}

function isPayment(form: Form): boolean {
  return form.get('trade_status') === 'TRADE_SUCCESS';
}

/** Returns the key of a callback. An id contains no space, so the two forms never collide. */
function keyOf(form: Form, transactionId: string): string {
  if (isPayment(form)) return transactionId;
  const content = `${transactionId} ${form.get('trade_status') ?? ''}`;
  return `not-paid ${createHash('sha256').update(content, 'latin1').digest('hex')}`;
}

function factOf(form: Form): PaymentFact {
  if (!isPayment(form)) return nothing;
  const money = decimalAmount(form.get('money'), 'CNY');
  return money === null ? unreadable('money') : { kind: 'paid', ...money };
}
