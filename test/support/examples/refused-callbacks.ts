import { paymentProvider, type PaymentProviderName } from '../../../src/areas/payments/domain/payment.js';
import type { ExecutionContext } from 'ava';
import { makeMutants } from '../../areas/payments/platforms/messages/callback-mutants.js';
import { arrivesAt } from '../../areas/payments/platforms/messages/messages.js';
import { asCallback, givenProvider, readVectors } from '../../areas/payments/platforms/vectors/vectors.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { givenCommands } from '../given/given-commands.js';
import { givenContext, givenStores } from '../given/given-stores.js';

export const allPlatforms = paymentProvider.options;

/**
 * Sends the service callbacks that were made from genuine ones. Fails the test when a callback that is not acknowledged
 * has called the log or the read models.
 * @returns the numbers of acknowledged and of refused callbacks
 */
export async function takeMutants(
  t: ExecutionContext,
  name: PaymentProviderName,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<{ readonly acknowledged: number; readonly refused: number }> {
  let calls = 0;
  const counted = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get: (target, property) => {
        calls += 1;
        const found: unknown = Reflect.get(target, property);
        return found;
      },
    });
  const stores = await givenStores({ wrap: counted, wrapDocuments: counted, mayLag: true });
  const paymentProviders = new Map([[name, await givenProvider(t, name)]]);
  const { receivePaymentCallback } = givenCommands(stores, { paymentProviders });
  const next = makeMutants(readVectors(name), makeSeededRandom(seed));
  let acknowledged = 0;
  for (let n = 0; n < count; n += 1) {
    const { attack, vector, body, receivedAt = arrivesAt } = next();
    const callback = { ...asCallback(vector, receivedAt), ...(body === undefined ? {} : { body }) };
    const before = calls;
    // Each mutant comes from another client, because those of a client with wrong signatures wait for each other.
    const client = `10.0.${n >> 8}.${n & 255}`;
    const { kind } = await receivePaymentCallback({ name, callback, client }, givenContext(n, receivedAt));
    if (kind === 'acknowledged') acknowledged += 1;
    else if (calls !== before)
      t.fail(`seed ${seed}, mutant ${n}, ${attack}: ${kind}, and a store was called`);
  }
  return { acknowledged, refused: count - acknowledged };
}
