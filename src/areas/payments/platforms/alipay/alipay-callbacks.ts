import type { KeyObject } from 'node:crypto';
import { parseBareKey, parseCertificate, parsePublicKey } from '../keys/certificates.js';
import { type Form, hasOneReading, parseForm, signedText } from '../calls/forms.js';
import type { PaymentFact, PaymentNotification } from '../../domain/fact.js';
import { decimalAmount } from '../money.js';
import { decodeBase64, parseTime } from '../calls/parsing.js';
import type { Refusal, Verification, Verify } from '../payment-provider.js';
import {
  firstThat,
  holdsRsaSha256,
  nothing,
  refused,
  unreadable,
  verified,
  verifiedUnreadable,
} from '../keys/verification.js';

/** The signed parameters that the service uses. notify_time is absent: it changes with every delivery. */
const usedNames: readonly string[] = [
  'notify_id',
  'notify_type',
  'method',
  'app_id',
  'seller_id',
  'out_trade_no',
  'trade_no',
  'out_biz_no',
  'trade_status',
  'total_amount',
  'refund_fee',
  'gmt_payment',
  'gmt_refund',
  'gmt_close',
];

/** The parameters that the service reads. gmt_create is the time of a payment that waits. */
const readNames: ReadonlySet<string> = new Set([...usedNames, 'gmt_create']);

/** Parameters without an `&` in their values. Texts of people are in the others, for example `subject` and `body`. */
const plainNames: ReadonlySet<string> = new Set([
  ...readNames,
  ...[
    'auth_app_id',
    'buyer_id',
    'buyer_logon_id',
    'buyer_open_id',
    'buyer_pay_amount',
    'charset',
    'fund_bill_list',
  ],
  ...[
    'invoice_amount',
    'notify_time',
    'point_amount',
    'receipt_amount',
    'seller_email',
    'sign_type',
    'timestamp',
    'version',
  ],
]);

/** Returns a signed parameter; null unless it is printable ASCII, which is the same in every charset. */
type Signed = (name: string) => string | null;

/**
 * Verifies callbacks of Alipay (open platform): notifications (POST form), and the page that buyers return to (GET). RSA2
 * is SHA256withRSA over the bytes of the decoded parameters in any charset, sorted, as `name=value&…`. The key of a
 * callback is the notification's id.
 */
export function verifyAlipay(merchant: {
  readonly appId: string;
  readonly sellerId: string;
  readonly publicKeys: readonly KeyObject[];
}): Verify {
  const { appId, sellerId, publicKeys } = merchant;
  return async ({ method, query, body }) => {
    const form = parseForm(method === 'GET' ? Buffer.from(query, 'latin1') : body);
    const refusal = form === null ? 'malformed' : await judge(form);
    if (form === null || refusal !== null) return refused(refusal ?? 'malformed');
    // The signature may leave out empty values; `readableText` returns null for them.
    const signed: Signed = (name) => readableText(form.get(name));
    return method === 'GET' ? readReturn(signed) : readNotification(signed, form);
  };

  async function judge(form: Form): Promise<Refusal | null> {
    // The message must not choose the hash: with sign_type RSA it would be SHA-1.
    if (form.get('sign_type') !== 'RSA2') return 'malformed';
    // A proxy may have decoded a plus sign to a space.
    const signature = decodeBase64((form.get('sign') ?? '').replaceAll(' ', '+'));
    if (signature === null) return 'malformed';
    // A field that follows one of these in the signed text could be moved into its value.
    if ([...plainNames].some((name) => form.get(name)?.includes('&'))) return 'malformed';
    const ways = new Map(waysOfSigning(form).map((names) => [signedText(form, names), names]));
    for (const [text, names] of ways) {
      const content = Buffer.from(text, 'latin1');
      if ((await firstThat(publicKeys, (key) => holdsRsaSha256(content, key, signature))) !== undefined)
        return hasOneReading(form, names, { used: readNames, plain: plainNames }) ? null : 'malformed';
    }
    return 'wrong_signature';
  }

  async function readNotification(signed: Signed, form: Form): Promise<Verification> {
    // The query of a return page is known to its visitor, so it is no notification.
    if (signed('method') !== null) return refused('wrong_signature');
    const key = signed('notify_id');
    if (key === null) {
      // All spellings of one message give the same content, so it has one digest.
      const names = filled(
        form,
        [...form.keys()].filter((name) => name !== 'sign'),
      );
      return verifiedUnreadable('notify_id', Buffer.from(signedText(form, names), 'latin1'));
    }
    return verified({
      key,
      isOurs: isOurs(signed),
      notifications: signed('notify_type') === 'trade_status_sync' ? readTrade(signed) : [none],
      fields: recordOf(signed),
    });
  }

  function readReturn(signed: Signed): Verification {
    return verified({
      key: `return-${signed('trade_no') ?? ''}`,
      isOurs: isOurs(signed),
      notifications: [{ ...referenceOf(signed), fact: nothing, at: null }],
      fields: recordOf(signed),
    });
  }

  /** Some products do not name the seller. */
  function isOurs(signed: Signed): boolean {
    const seller = signed('seller_id');
    return signed('app_id') === appId && (seller === null || seller === sellerId);
  }
}

const none: PaymentNotification = { order_number: null, transaction_id: null, fact: nothing, at: null };

/** Products sign with or without `sign_type` and empty values. Each way needs a genuine signature, so all are safe. */
function waysOfSigning(form: Form): readonly (readonly string[])[] {
  const names = [...form.keys()].filter((name) => name !== 'sign');
  const withoutType = names.filter((name) => name !== 'sign_type');
  return [withoutType, filled(form, withoutType), names, filled(form, names)];
}

function filled(form: Form, names: readonly string[]): readonly string[] {
  return names.filter((name) => form.get(name) !== '');
}

function readableText(text: string | undefined): string | null {
  return text !== undefined && /^[\x20-\x7e]{1,256}$/.test(text) ? text : null;
}

function recordOf(signed: Signed): readonly (readonly [string, string])[] {
  const found = usedNames.map((name) => [name, signed(name)] as const);
  return found.filter((entry): entry is readonly [string, string] => entry[1] !== null);
}

function referenceOf(signed: Signed) {
  return { order_number: signed('out_trade_no'), transaction_id: signed('trade_no') };
}

/** Reads a trade. A refund also reports the payment, which counts even if its notification was lost. */
function readTrade(signed: Signed): readonly PaymentNotification[] {
  const refunded = decimalAmount(signed('refund_fee') ?? '0', 'CNY');
  const one = (fact: PaymentFact, time: string): readonly PaymentNotification[] => [
    { ...referenceOf(signed), fact, at: readChinaTime(signed(time)) },
  ];
  if (refunded === null) return one(unreadable('refund_fee'), 'gmt_refund');
  // A payment may contain a refund_fee of 0.00.
  const refund: readonly PaymentNotification[] =
    refunded.amount > 0 ? one({ kind: 'refunded-in-total', ...refunded }, 'gmt_refund') : [];
  switch (signed('trade_status') ?? '') {
    case 'WAIT_BUYER_PAY':
      return one({ kind: 'unpaid' }, 'gmt_create');
    case 'TRADE_SUCCESS':
    case 'TRADE_FINISHED':
      return [...one(paid(signed), 'gmt_payment'), ...refund];
    case 'TRADE_CLOSED':
      return refund.length === 0
        ? one({ kind: 'expired' }, 'gmt_close')
        : [...one(paid(signed), 'gmt_payment'), ...refund];
    default:
      return one(unreadable('trade_status'), 'gmt_create');
  }
}

function paid(signed: Signed): PaymentFact {
  const money = decimalAmount(signed('total_amount'), 'CNY');
  return money === null ? unreadable('total_amount') : { kind: 'paid', ...money };
}

/** Parses a time of Alipay, which is UTC+8 without an offset: `2026-01-02 11:04:05`. */
export function readChinaTime(text: string | null): string | null {
  const time = text === null ? null : parseTime(`${text.replace(' ', 'T')}+08:00`);
  return time?.toISOString() ?? null;
}

/**
 * Parses an RSA key of 2048 bits or more as Alipay's console shows it: bare base64 (SubjectPublicKeyInfo), PEM, or a
 * PEM certificate. Returns null for any other text and for a private key.
 */
export function parseAlipayKey(text: string): KeyObject | null {
  if (!text.includes('-----BEGIN')) return parseBareKey(text);
  return parseCertificate(text)?.key ?? parsePublicKey(text);
}
