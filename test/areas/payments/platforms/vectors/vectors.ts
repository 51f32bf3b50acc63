import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import { makeAlipay, parseAlipayKey } from '../../../../../src/areas/payments/platforms/alipay/alipay.js';
import { makeEpay } from '../../../../../src/areas/payments/platforms/epay/epay.js';
import type { PaymentProviderName } from '../../../../../src/areas/payments/domain/payment.js';
import type {
  PaymentCallback,
  PaymentProvider,
  VerifiedCallback,
} from '../../../../../src/areas/payments/platforms/payment-provider.js';
import { makeFetchedCertificates } from '../../../../../src/areas/payments/platforms/paypal/paypal-certificates.js';
import { makePayPal } from '../../../../../src/areas/payments/platforms/paypal/paypal.js';
import { makeStandard, parseStandardSecret } from '../../../../../src/areas/payments/platforms/standard.js';
import { makeStripe } from '../../../../../src/areas/payments/platforms/stripe/stripe.js';
import { makeWechatPayKeys } from '../../../../../src/areas/payments/platforms/wechatpay/wechatpay-keys.js';
import { makeWechatPay } from '../../../../../src/areas/payments/platforms/wechatpay/wechatpay.js';
import { alipayMessages } from '../messages/messages-alipay.js';
import { epayMessages } from '../messages/messages-epay.js';
import { paypalMessages } from '../messages/messages-paypal.js';
import { standardMessages } from '../messages/messages-standard.js';
import { stripeMessages } from '../messages/messages-stripe.js';
import { wechatpayMessages } from '../messages/messages-wechatpay.js';
import { arrivesAt, merchant, type PaymentMessage, secrets } from '../messages/messages.js';

/** The messages whose signed form is in `vectors-<provider>.json`, in the same order. */
export const messagesOf: Readonly<Record<PaymentProviderName, readonly PaymentMessage[]>> = {
  stripe: stripeMessages,
  wechatpay: wechatpayMessages,
  alipay: alipayMessages,
  paypal: paypalMessages,
  standard: standardMessages,
  epay: epayMessages,
};

const vector = z.object({
  title: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  query: z.string(),
});

const refusal = z.enum(['malformed', 'unknown_key', 'wrong_signature', 'out_of_time']);

const vectorFile = z.object({
  vectors: z.array(vector),
  /** The first message (of `standard`: the second) in other forms with the same meaning. */
  again: z.array(vector),
  negatives: z.array(vector.extend({ reason: refusal })),
  unavailable: z.array(vector).default([]),
  keys: z.record(z.string(), z.string()).default({}),
  publicKeys: z.array(z.string()).default([]),
  publicKey: z.string().default(''),
  certificates: z.record(z.string(), z.string()).default({}),
});

export type Vector = z.infer<typeof vector>;
export type VectorFile = z.infer<typeof vectorFile>;

export function readVectors(provider: PaymentProviderName): VectorFile {
  const file = new URL(
    `../../../../../../test/areas/payments/platforms/vectors/vectors-${provider}.json`,
    import.meta.url,
  );
  return vectorFile.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** Returns a vector as a received callback. */
export function asCallback(
  { method, headers, body, query }: Vector,
  receivedAt = arrivesAt,
): PaymentCallback {
  return { method, headers, body: Buffer.from(body, 'utf8'), query, receivedAt };
}

/** Makes the provider that the vectors were made for. */
export function givenProvider(t: ExecutionContext, name: PaymentProviderName): PaymentProvider {
  const file = readVectors(name);
  switch (name) {
    case 'stripe':
      return makeStripe({ secrets: secrets.stripe, livemode: true });
    case 'wechatpay':
      return makeWechatPay({
        ...merchant.wechatpay,
        apiV3Keys: [Buffer.alloc(32, 'x'), Buffer.from(secrets.wechatpayApiV3Key)],
        keys: makeWechatPayKeys(givenKeyDirectory(t, file.keys), () => undefined),
      });
    case 'alipay':
      return makeAlipay({
        ...merchant.alipay,
        publicKeys: file.publicKeys.map(parseAlipayKey).filter((key) => key !== null),
      });
    case 'paypal':
      return makePayPal({ ...merchant.paypal, certificates: signingCertificate(file) });
    case 'standard':
      return makeStandard({
        checks: [secrets.standard, file.publicKey].map(parseStandardSecret).filter((check) => check !== null),
      });
    case 'epay':
      return makeEpay({ ...merchant.epay, keys: secrets.epay });
  }
}

/** Makes PayPal's certificates: a client that serves the certificate of the vectors and no other. */
function signingCertificate({ certificates, vectors }: VectorFile) {
  const address = vectors[0]?.headers['paypal-cert-url'];
  return makeFetchedCertificates({
    environment: 'live',
    paceMs: 0,
    http: ({ url }) => {
      const body = url === address ? (certificates['signing'] ?? '') : 'none';
      return Promise.resolve({ status: url === address ? 200 : 404, headers: {}, body: Buffer.from(body) });
    },
  });
}

/** Makes a directory of files that exists until the test ends. */
export function givenKeyDirectory(t: ExecutionContext, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-keys-'));
  t.teardown(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

/** Returns the content of a callback that must be genuine. @throws Error if it is refused */
export async function verifiedBy(
  provider: PaymentProvider,
  callback: PaymentCallback,
): Promise<VerifiedCallback> {
  const verification = await provider.verify(callback);
  if (verification.kind === 'verified') return verification.callback;
  throw new Error(`it is not verified: ${JSON.stringify(verification)}`);
}
