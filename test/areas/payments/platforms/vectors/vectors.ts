import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { pluck } from '../../../../support/given/pluck.js';
import {
  paymentProvider,
  type PaymentProviderName,
} from '../../../../../src/areas/payments/domain/payment.js';
import {
  makePaymentProviders,
  readPaymentSettings,
} from '../../../../../src/areas/payments/platforms/configured.js';
import type {
  PaymentCallback,
  PaymentProvider,
  VerifiedCallback,
  Verify,
} from '../../../../../src/areas/payments/platforms/payment-provider.js';
import { platforms } from '../../../../../src/areas/payments/platforms/platforms.js';
import { arrivesAt } from '../messages/messages.js';
import { type PlatformUnderTest, type Vector, type VectorFile, vectorFile } from './under-test.js';

export type { Vector, VectorFile } from './under-test.js';

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

/** Returns what the tests know of a platform, which is found by its name, so that no second list names it. */
export async function platformUnderTest(name: PaymentProviderName): Promise<PlatformUnderTest> {
  return ((await import(`./${name}.js`)) as { readonly default: PlatformUnderTest }).default;
}

/** Makes the settings of all platforms, under which their vectors are genuine. */
export async function environmentOfAll(
  directoryOf: Parameters<PlatformUnderTest['environment']>[1],
): Promise<Readonly<Record<string, string>>> {
  const all = paymentProvider.options.map(async (name) =>
    (await platformUnderTest(name)).environment(readVectors(name), directoryOf),
  );
  return Object.assign({}, ...(await Promise.all(all))) as Readonly<Record<string, string>>;
}

/** Makes the provider of a platform with another verification. */
export function providerOf(name: PaymentProviderName, verify: Verify): PaymentProvider {
  const { acknowledgement, get } = platforms.get(name) ?? {};
  if (acknowledgement === undefined) throw new Error(`${name} is not in the list`);
  return { acknowledgement, ...(get === undefined ? {} : { get }), verify };
}

/** Makes the provider that the vectors were made for. */
export async function givenProvider(
  t: ExecutionContext,
  name: PaymentProviderName,
): Promise<PaymentProvider> {
  const file = readVectors(name);
  const { environment, verify } = await platformUnderTest(name);
  if (verify !== undefined) return providerOf(name, verify(file));
  const variables = environment(file, (files) => givenKeyDirectory(t, files));
  const { settings } = readPaymentSettings((variable) => variables[variable]);
  const surroundings = { http: () => Promise.reject(new Error('no network here')), report: () => undefined };
  const provider = makePaymentProviders(settings, surroundings).get(name);
  if (provider === undefined) throw new Error(`${name} is not set up`);
  return provider;
}

/** Makes a directory of files that exists until the test ends. */
export function givenKeyDirectory(t: ExecutionContext, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-keys-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
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

/** Returns the facts of a callback that must be genuine. */
export async function factsBy(provider: PaymentProvider, callback: PaymentCallback) {
  return pluck((await verifiedBy(provider, callback)).notifications, 'fact');
}

/** Asserts that all have the key of the first callback, and that only those with other content have another digest. */
export async function digestCovers(
  t: ExecutionContext,
  provider: PaymentProvider,
  first: PaymentCallback,
  { renewed = [], changed }: { renewed?: readonly PaymentCallback[]; changed: readonly PaymentCallback[] },
): Promise<void> {
  const { key, digest } = await verifiedBy(provider, first);
  for (const callback of [...renewed, ...changed]) {
    const verified = await verifiedBy(provider, callback);
    t.is(verified.key, key);
    t.is(verified.digest === digest, renewed.includes(callback), callback.body.toString() + callback.query);
  }
}
