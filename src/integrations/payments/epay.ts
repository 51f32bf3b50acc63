import { createHash, timingSafeEqual } from 'node:crypto';
import { type Form, isAmbiguous, parseForm, signedText } from './forms.js';
import { decimalAmount } from './money.js';
import type { PaymentFact, PaymentProvider, Refusal, Verification } from './payment-provider.js';
import { nothing, refused, unreadable, verified, verifiedUnreadable } from './verification.js';

const signedNames = new Set([
  'pid',
  'trade_no',
  'out_trade_no',
  'type',
  'name',
  'money',
  'trade_status',
  'param',
]);
const unsignedNames = new Set(['sign', 'sign_type']);
const knownNames = new Set([...signedNames, ...unsignedNames]);

/** What is used; names of goods may be replaced by the gateway. */
const recordedNames = ['pid', 'trade_no', 'out_trade_no', 'money', 'trade_status'];

/**
 * Epay, the interface of many Chinese gateways, by GET or POST: MD5 over the sorted parameters with the merchant's key at the end.
 * The weakest of all, so it is off unless enabled. The key is the gateway's trade_no: it tells of each payment once. Whatever
 * else a gateway may tell of a trade has a key of its own, so that the payment is not taken for the same message with other content.
 * @param pid `PAYMENT_EPAY_PID`
 * @param keys `PAYMENT_EPAY_KEYS`
 */
export function makeEpay({
  pid,
  keys,
}: {
  readonly pid: string;
  readonly keys: readonly string[];
}): PaymentProvider {
  return {
    // The gateway looks for this word anywhere in the body, so no error of this route may contain it.
    acknowledgement: { contentType: 'text/plain; charset=utf-8', body: 'success' },
    get: 'settles',
    verify: ({ method, query, body }) => {
      const form = parseForm(method === 'GET' ? Buffer.from(query, 'latin1') : body);
      if (form === null) return Promise.resolve(refused('malformed'));
      const refusal = judge(form);
      return Promise.resolve(refusal === null ? read(form) : refused(refusal));
    },
  };

  function judge(form: Form): Refusal | null {
    const sign = form.get('sign') ?? '';
    if (!/^[0-9a-f]{32}$/.test(sign) || (form.get('sign_type') ?? 'MD5') !== 'MD5') return 'malformed';
    if (!isUnambiguous(form)) return 'malformed';
    const text = textOf(form);
    const isGenuine = keys.some((key) => {
      const expected = createHash('md5').update(text, 'latin1').update(key).digest();
      return timingSafeEqual(expected, Buffer.from(sign, 'hex'));
    });
    return isGenuine ? null : 'wrong_signature';
  }

  function read(form: Form): Verification {
    const content = Buffer.from(textOf(form), 'latin1');
    const orderNumber = form.get('out_trade_no') ?? '';
    const transactionId = form.get('trade_no') ?? '';
    if (!isId(orderNumber)) return verifiedUnreadable('out_trade_no', content);
    if (!isId(transactionId)) return verifiedUnreadable('trade_no', content);
    return verified({
      key: keyOf(form, transactionId),
      isOurs: form.get('pid') === pid,
      notifications: [{ reference: { orderNumber, transactionId }, fact: factOf(form), at: null }],
      fields: Object.fromEntries(recordedNames.map((name) => [name, form.get(name) ?? ''])),
    });
  }
}

function textOf(form: Form): string {
  const isSigned = (name: string): boolean => signedNames.has(name) && form.get(name) !== '';
  return signedText(form, [...form.keys()].filter(isSigned));
}

/**
 * The signed text has no escaping, so parameters could be made up out of values that a buyer has chosen; and MD5 gives whoever
 * chooses bytes two texts with one digest, for which control characters and broken UTF-8 are needed.
 */
function isUnambiguous(form: Form): boolean {
  if (![...form.keys()].every((name) => knownNames.has(name))) return false;
  if (isAmbiguous(form, knownNames)) return false;
  return [...form.values()].every((value) => isPrintableUtf8(Buffer.from(value, 'latin1')));
}

function isPrintableUtf8(bytes: Buffer): boolean {
  try {
    return !/\p{Cc}/u.test(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // Not UTF-8: told of by throwing.
    return false;
  }
}

function isId(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text);
}

function isPayment(form: Form): boolean {
  return form.get('trade_status') === 'TRADE_SUCCESS';
}

/** An id holds no space, so the one is never the other. */
function keyOf(form: Form, transactionId: string): string {
  if (isPayment(form)) return transactionId;
  const told = `${transactionId} ${form.get('trade_status') ?? ''}`;
  return `not-paid ${createHash('sha256').update(told, 'latin1').digest('hex')}`;
}

function factOf(form: Form): PaymentFact {
  if (!isPayment(form)) return nothing;
  const money = decimalAmount(form.get('money'), 'CNY');
  return money === null ? unreadable('money') : { kind: 'paid', money };
}
