import type { KeyObject } from 'node:crypto';
import { parseBareKey, parseCertificate, parsePublicKey } from './certificates.js';
import { type Form, isAmbiguous, parseForm, signedText } from './forms.js';
import { decimalAmount } from './money.js';
import { decodeBase64, parseTime } from './parsing.js';
import type {
  PaymentFact,
  PaymentNotification,
  PaymentProvider,
  Refusal,
  Verification,
} from './payment-provider.js';
import {
  holdsRsaSha256,
  nothing,
  refused,
  unreadable,
  verified,
  verifiedUnreadable,
} from './verification.js';

/** The signed parameters that are used. What a repeated delivery renews (notify_time) is not among them. */
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

/** A signed parameter of printable ASCII characters, which are the same in every charset; null for any other. */
type Signed = (name: string) => string | null;

/**
 * Alipay open platform: asynchronous notifications (POST form) and the page that people return to (GET). RSA2: SHA256withRSA over
 * the decoded parameters' bytes, in whatever charset, sorted, as `name=value&…`. The key is the notification's id.
 * @param publicKeys Alipay's, of `PAYMENT_ALIPAY_PUBLIC_KEYS`
 */
export function makeAlipay({
  appId,
  sellerId,
  publicKeys,
}: {
  readonly appId: string;
  readonly sellerId: string;
  readonly publicKeys: readonly KeyObject[];
}): PaymentProvider {
  return {
    // Exactly this, or it is sent again; nothing else of this route may contain the word.
    acknowledgement: { contentType: 'text/plain; charset=utf-8', body: 'success' },
    get: 'shows',
    verify: ({ method, query, body }) => {
      const form = parseForm(method === 'GET' ? Buffer.from(query, 'latin1') : body);
      const refusal = form === null ? 'malformed' : judge(form);
      if (form === null || refusal !== null) return Promise.resolve(refused(refusal ?? 'malformed'));
      // What the signature may leave out is empty, and that is null as well.
      const signed: Signed = (name) => readableText(form.get(name));
      return Promise.resolve(method === 'GET' ? readReturn(signed) : readNotification(signed, form));
    },
  };

  function judge(form: Form): Refusal | null {
    // The hash is never the message's to choose: RSA would be SHA-1.
    if (form.get('sign_type') !== 'RSA2') return 'malformed';
    // A plus sign may have become a space on the way.
    const signature = decodeBase64((form.get('sign') ?? '').replaceAll(' ', '+'));
    if (signature === null || isAmbiguous(form, [...usedNames, 'sign', 'sign_type'])) return 'malformed';
    const isGenuine = waysOfSigning(form).some((names) => {
      const text = Buffer.from(signedText(form, names), 'latin1');
      return publicKeys.some((key) => holdsRsaSha256(text, key, signature));
    });
    return isGenuine ? null : 'wrong_signature';
  }

  function readNotification(signed: Signed, form: Form): Verification {
    // A return page's query, which its visitor has, is no notification.
    if (signed('method') !== null) return refused('wrong_signature');
    const key = signed('notify_id');
    if (key === null) {
      // However it is spelled, it is the same one.
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
    const reference = { orderNumber: signed('out_trade_no'), transactionId: signed('trade_no') };
    return verified({
      key: `return-${signed('trade_no') ?? ''}`,
      isOurs: isOurs(signed),
      notifications: [{ reference, fact: nothing, at: null }],
      fields: recordOf(signed),
    });
  }

  /** Not every product names the seller. */
  function isOurs(signed: Signed): boolean {
    const seller = signed('seller_id');
    return signed('app_id') === appId && (seller === null || seller === sellerId);
  }
}

const none: PaymentNotification = {
  reference: { orderNumber: null, transactionId: null },
  fact: nothing,
  at: null,
};

/** Products differ in whether `sign_type` and empty values are signed. Each needs a genuine signature, so trying is safe. */
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

function recordOf(signed: Signed): Readonly<Record<string, string>> {
  const found = usedNames.map((name) => [name, signed(name)] as const);
  return Object.fromEntries(found.filter((entry): entry is readonly [string, string] => entry[1] !== null));
}

/** A refund's notification tells of the payment, too: then the payment counts even where its own was lost. */
function readTrade(signed: Signed): readonly PaymentNotification[] {
  const reference = { orderNumber: signed('out_trade_no'), transactionId: signed('trade_no') };
  const refunded = decimalAmount(signed('refund_fee') ?? '0', 'CNY');
  const one = (fact: PaymentFact, time: string): readonly PaymentNotification[] => [
    { reference, fact, at: chinaTime(signed(time)) },
  ];
  if (refunded === null) return one(unreadable('refund_fee'), 'gmt_refund');
  // It may be there with 0.00 on a payment.
  const refund: readonly PaymentNotification[] =
    refunded.amount > 0 ? one({ kind: 'refunded-in-total', money: refunded }, 'gmt_refund') : [];
  switch (signed('trade_status') ?? '') {
    case 'WAIT_BUYER_PAY':
      return one({ kind: 'pending' }, 'gmt_create');
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
  return money === null ? unreadable('total_amount') : { kind: 'paid', money };
}

/** Alipay's times are UTC+8 and do not say so: `2026-01-02 11:04:05`. */
function chinaTime(text: string | null): Date | null {
  return text === null ? null : parseTime(`${text.replace(' ', 'T')}+08:00`);
}

/**
 * A public key of Alipay's as its console shows it: bare base64 of the SubjectPublicKeyInfo, PEM, or a certificate in PEM. Null for
 * what is none of these, a private key, or no RSA key of 2048 bits.
 */
export function parseAlipayKey(text: string): KeyObject | null {
  if (!text.includes('-----BEGIN')) return parseBareKey(text);
  return parseCertificate(text)?.key ?? parsePublicKey(text);
}
