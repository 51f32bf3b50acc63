import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { minorUnits } from './money.js';
import { at, decodeBase64, parseJsonObject, textAt, timeAt } from './parsing.js';
import { acknowledgedOk, type PaymentFact, type PaymentProvider } from './payment-provider.js';
import {
  fieldsAt,
  isWithinTolerance,
  nothing,
  refused,
  unreadable,
  verified,
  verifiedUnreadable,
} from './verification.js';

const signaturesMax = 16;

const standardFields: readonly string[] = [
  'type',
  'timestamp',
  'data.order_number',
  'data.transaction_id',
  'data.amount',
  'data.currency',
  'data.refunded_amount',
];

/** A raw Ed25519 public key as SubjectPublicKeyInfo (RFC 8410). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether one of the signatures (`v1,…`, `v1a,…`) holds over the content. */
export type StandardCheck = (content: Buffer, signatures: readonly string[]) => boolean;

/**
 * Standard Webhooks 1.0, for any platform or gateway that nobody else here speaks for: `v1` HMAC-SHA256 and `v1a` Ed25519 over
 * `<id>.<timestamp>.<raw body>`. The key is the message's id; the body is DESIGN 4.5's.
 * @param checks of `PAYMENT_STANDARD_WEBHOOK_SECRETS`, by `parseStandardSecret`
 */
export function makeStandard({ checks }: { readonly checks: readonly StandardCheck[] }): PaymentProvider {
  return {
    acknowledgement: acknowledgedOk,
    verify: ({ headers, body, receivedAt }) => {
      const id = headers['webhook-id'] ?? '';
      const time = headers['webhook-timestamp'] ?? '';
      const signatures = (headers['webhook-signature'] ?? '').split(' ', signaturesMax);
      // A dot in the id would let the boundary between id and time move.
      if (!/^[\x21-\x2d\x2f-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(time)) {
        return Promise.resolve(refused('malformed'));
      }
      const content = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
      if (!checks.some((check) => check(content, signatures))) {
        return Promise.resolve(refused('wrong_signature'));
      }
      return Promise.resolve(isWithinTolerance(time, receivedAt) ? read(id, body) : refused('out_of_time'));
    },
  };
}

function read(key: string, body: Buffer) {
  const message = parseJsonObject(body);
  const type = textAt(message, 'type');
  if (message === null || type === null) return verifiedUnreadable('type', body);
  return verified({
    key,
    isOurs: true,
    notifications: [
      {
        reference: {
          orderNumber: textAt(message, 'data.order_number'),
          transactionId: textAt(message, 'data.transaction_id'),
        },
        fact: factOf(type, message),
        at: timeAt(message, 'timestamp'),
      },
    ],
    fields: fieldsAt(message, standardFields),
  });
}

function factOf(type: string, message: unknown): PaymentFact {
  switch (type) {
    case 'payment.pending':
      return { kind: 'pending' };
    case 'payment.failed':
      return { kind: 'failed' };
    case 'payment.expired':
      return { kind: 'expired' };
    case 'payment.canceled':
      return { kind: 'canceled' };
    case 'payment.paid':
      return counted('paid', message, 'data.amount');
    case 'payment.refunded':
      return counted('refunded-in-total', message, 'data.refunded_amount');
    case 'payment.disputed':
      return dispute(message, 'open');
    case 'dispute.won':
      return dispute(message, 'won');
    case 'dispute.lost':
      return dispute(message, 'lost');
    default:
      return nothing;
  }
}

function counted(kind: 'paid' | 'refunded-in-total', message: unknown, field: string): PaymentFact {
  const money = minorUnits(at(message, field), at(message, 'data.currency'));
  return money === null ? unreadable(field) : { kind, money };
}

/** The contract knows one dispute a transaction. */
function dispute(message: unknown, status: 'open' | 'won' | 'lost'): PaymentFact {
  const disputeId = textAt(message, 'data.transaction_id');
  return disputeId === null ? unreadable('data.transaction_id') : { kind: 'dispute', disputeId, status };
}

/**
 * A secret of the sender: `whsec_` and 24 to 64 bytes in base64 (`v1`), or its Ed25519 public key, `whpk_` and 32 bytes (`v1a`).
 * Null for what is neither.
 */
export function parseStandardSecret(secret: string): StandardCheck | null {
  const bytes = decodeBase64(secret.replace(/^wh(?:sec|pk)_/, ''));
  if (bytes === null) return null;
  if (secret.startsWith('whsec_') && bytes.length >= 24 && bytes.length <= 64) return hmacCheck(bytes);
  if (!secret.startsWith('whpk_') || bytes.length !== 32) return null;
  return ed25519Check(
    createPublicKey({ key: Buffer.concat([spkiPrefix, bytes]), format: 'der', type: 'spki' }),
  );
}

function hmacCheck(key: Buffer): StandardCheck {
  return (content, signatures) => {
    const expected = createHmac('sha256', key).update(content).digest();
    return decodeSignatures('v1,', signatures, expected.length).some((given) =>
      timingSafeEqual(given, expected),
    );
  };
}

function ed25519Check(key: KeyObject): StandardCheck {
  return (content, signatures) =>
    decodeSignatures('v1a,', signatures, 64).some((given) => verify(null, content, key, given));
}

function decodeSignatures(version: string, signatures: readonly string[], length: number): readonly Buffer[] {
  return signatures
    .filter((signature) => signature.startsWith(version))
    .map((signature) => decodeBase64(signature.slice(version.length)))
    .filter((bytes) => bytes !== null)
    .filter((bytes) => bytes.length === length);
}
