import { z } from 'zod';
import { currencyCode, type Money } from '../fact.js';
import { type PaymentProviderName, platformTerms } from '../payment.js';
import { orderGrant } from './events.js';
import { invalid } from '../../../../validation/field-problems.js';

/** A plan in `PLANS_FILE` (src/areas/payments/README.md#plans-and-orders). */
const plan = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be 1 to 64 lower-case letters, digits or hyphens'),
  name: z.string().min(1).max(128),
  /** Minor units by currency. */
  prices: z
    .record(currencyCode, z.int().positive())
    .refine((prices) => Object.keys(prices).length > 0, 'must name a price'),
  grants: orderGrant,
});
export type Plan = z.infer<typeof plan>;

export const plans = z
  .array(plan)
  .min(1)
  .max(200)
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'two plans have one id');

/** The plans of a service without `PLANS_FILE`. */
export const builtInPlans: readonly Plan[] = [
  {
    id: 'capacity-100g',
    name: '100 GiB of storage',
    prices: { USD: 999, CNY: 6_900 },
    grants: { capacity_bytes: 107_374_182_400 },
  },
  {
    id: 'project-s3',
    name: 'Storages of one’s own for a project',
    prices: { USD: 1_900, CNY: 12_900 },
    grants: { entitlement: 'allow_s3' },
  },
];

export function defaultCurrency(provider: PaymentProviderName): string {
  return platformTerms(provider).currencies.default;
}

/**
 * Returns why the platform cannot charge the price, or null. An order that no payment can pay is refused when it is
 * placed.
 */
export function whyNotPayable(provider: PaymentProviderName, price: Money): string | null {
  const { currencies } = platformTerms(provider);
  if (currencies.is_only && price.currency !== currencies.default)
    return `${provider} pays in ${currencies.default} alone`;
  return currencies.whyNot?.(price) ?? null;
}

/** Returns the plan and its price in minor units. @throws InvalidInput */
export function findOffer(
  all: readonly Plan[],
  { plan_id, currency }: { readonly plan_id: string; readonly currency: string },
): { readonly plan: Plan; readonly amount: number } {
  const found = all.find(({ id }) => id === plan_id);
  if (found === undefined) return invalid('plan_id', 'names no plan', 'not_allowed');
  const amount = Object.hasOwn(found.prices, currency) ? found.prices[currency] : undefined;
  if (amount === undefined)
    return invalid('currency', 'is not one in which the plan has a price', 'not_allowed');
  return { plan: found, amount };
}

/** Returns whether the grant of the plan belongs to a project. */
export function isForProject({ grants }: Plan): boolean {
  return 'entitlement' in grants;
}
