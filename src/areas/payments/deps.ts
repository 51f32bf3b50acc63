import type { OrderReader } from '../../../projections/payments/orders/reader.js';
import type { PaymentCallbackReader } from '../../../projections/payments/payment-callbacks/reader.js';
import type { Plan } from './domain/order/plans.js';
import type { PaymentMakers, PaymentProviders } from './platforms/configured.js';
import type { ProjectDeps } from '../projects/deps.js';

/** The collaborators of the use cases of this area, with those of the areas below it. */
export interface PaymentDeps extends ProjectDeps {
  readonly orders: OrderReader;
  readonly paymentCallbacks: PaymentCallbackReader;
  readonly paymentProviders: PaymentProviders;
  readonly paymentMakers: PaymentMakers;
  readonly plans: readonly Plan[];
}
