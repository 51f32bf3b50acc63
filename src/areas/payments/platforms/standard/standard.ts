import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type { PaymentFact } from '../../domain/fact.js';
import { minorUnits } from '../money.js';
import { at, decodeBase64, readJsonObject, textAt, timeAt } from '../calls/parsing.js';
import { acknowledgedOk, type Verify } from '../payment-provider.js';
import { definePlatform } from '../platform.js';
import {
  fieldsAt,
  firstThat,
  isWithinTolerance,
  nothing,
  refused,
  unreadable,
  updatedBy,
  verified,
  verifiedUnreadable,
} from '../keys/verification.js';

const signaturesMax = 16;
/** Signatures of one version that are tried: a sender signs with an old and a new key. Each costs a pass over the body. */
const triedMax = 4;

const standardFields: readonly string[] = [
  'type',
  'timestamp',
  'data.order_number',
  'data.transaction_id',
  'data.amount',
  'data.currency',
  'data.refunded_amount',
  'data.disputed_amount',
];

/** The prefix that makes a raw Ed25519 public key a SubjectPublicKeyInfo (RFC 8410). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

type StandardCheck = (content: Buffer, signatures: readonly string[]) => Promise<boolean>;

export const standard = definePlatform({
  name: 'standard',
  settings: {
    variables: {
      PAYMENT_STANDARD_WEBHOOK_SECRETS: 'secret',
    },
    read: ({ hasAll, list }) => {
      if (!hasAll(['PAYMENT_STANDARD_WEBHOOK_SECRETS'])) return null;
      const checks = list(
        'PAYMENT_STANDARD_WEBHOOK_SECRETS',
        parseStandardSecret,
        'a secret (24 to 64 bytes in base64, with or without whsec_) or a public key (whpk_ and 32 bytes in base64)',
      );
      return checks === null ? null : { checks };
    },
  },
  currencies: { default: 'USD' },
  number_fields: ['data.order_number'],
  acknowledgement: acknowledgedOk,
  verify: verifyStandard,
});

/**
 * Verifies callbacks of Standard Webhooks 1.0, for gateways without a module here: `v1` HMAC-SHA256 or `v1a` Ed25519
 * over `<id>.<timestamp>.<raw body>`. The key of a callback is the message's id. The body has the form in
 * src/areas/payments/README.md#payment-callbacks.
 * @param checks made by `parseStandardSecret`
 */
export function verifyStandard({ checks }: { readonly checks: readonly StandardCheck[] }): Verify {
  return async ({ headers, body, receivedAt }) => {
    const id = headers['webhook-id'] ?? '';
    const time = headers['webhook-timestamp'] ?? '';
    // Several headers arrive as one, joined by a comma and a space.
    const signatures = (headers['webhook-signature'] ?? '').split(/,? +/, signaturesMax);
    // A dot in the id would let the boundary between id and time move.
    if (!/^[\x21-\x2d\x2f-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(time)) return refused('malformed');
    const content = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
    const genuine = await firstThat(checks, (check) => check(content, signatures));
    if (genuine === undefined) return refused('wrong_signature');
    return isWithinTolerance(time, receivedAt) ? read(id, body) : refused('out_of_time');
  };
}

async function read(key: string, body: Buffer) {
  const message = await readJsonObject(body);
  const type = textAt(message, 'type');
  if (message === null || type === null) return verifiedUnreadable('type', body);
  return verified({
    key,
    isOurs: true,
    notifications: [
      {
        order_number: textAt(message, 'data.order_number'),
        transaction_id: textAt(message, 'data.transaction_id'),
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
  return money === null ? unreadable(field) : { kind, ...money };
}

/** At most one dispute for a transaction. */
function dispute(message: unknown, status: 'open' | 'won' | 'lost'): PaymentFact {
  const dispute_id = textAt(message, 'data.transaction_id');
  if (dispute_id === null) return unreadable('data.transaction_id');
  const amount = at(message, 'data.disputed_amount');
  const money = minorUnits(amount, at(message, 'data.currency'));
  if (amount !== undefined && money === null) return unreadable('data.disputed_amount');
  return { kind: 'dispute', dispute_id, status, ...money };
}

/**
 * Parses 24 to 64 bytes in base64 after `whsec_` or alone (`v1`), or an Ed25519 public key after `whpk_` (`v1a`); else null. Consoles show
 * base64 with and without padding.
 */
export function parseStandardSecret(secret: string): StandardCheck | null {
  const shown = secret.replace(/^wh(?:sec|pk)_/, '').replace(/=+$/, '');
  const bytes = decodeBase64(shown.padEnd(Math.ceil(shown.length / 4) * 4, '='));
  if (bytes === null) return null;
  if (!secret.startsWith('whpk_')) return bytes.length >= 24 && bytes.length <= 64 ? hmacCheck(bytes) : null;
  if (bytes.length !== 32) return null;
  return ed25519Check(
    createPublicKey({ key: Buffer.concat([spkiPrefix, bytes]), format: 'der', type: 'spki' }),
  );
}

function hmacCheck(key: Buffer): StandardCheck {
  return async (content, signatures) => {
    const expected = (await updatedBy(createHmac('sha256', key), content)).digest();
    return decodeSignatures('v1,', signatures, expected.length).some((given) =>
      timingSafeEqual(given, expected),
    );
  };
}

function ed25519Check(key: KeyObject): StandardCheck {
  return async (content, signatures) => {
    const given = decodeSignatures('v1a,', signatures, 64);
    return (await firstThat(given, (signature) => holdsEd25519(content, key, signature))) !== undefined;
  };
}

/** Ed25519 passes twice over the whole content, so it does so on another thread. */
function holdsEd25519(content: Buffer, key: KeyObject, signature: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(null, content, key, signature, (error, holds) => {
      if (error === null) resolve(holds);
      else reject(error);
    });
  });
}

function decodeSignatures(version: string, signatures: readonly string[], length: number): readonly Buffer[] {
  return signatures
    .filter((signature) => signature.startsWith(version))
    .map((signature) => decodeBase64(signature.slice(version.length)))
    .filter((bytes) => bytes !== null)
    .filter((bytes) => bytes.length === length)
    .slice(0, triedMax);
}
