import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../event-sourcing/deciding/ids.js';
import type { Versioned } from '../../event-sourcing/views/views.js';
import { invalid } from '../../domain/invalid-request.js';
import { orderAggregate, orderLifeMs } from '../../domain/order/order.js';
import { defaultCurrency, findOffer, isForProject, isPayableIn } from '../../domain/order/plans.js';
import type { PaymentProviderName } from '../../domain/payment.js';
import { rejectProject } from '../../domain/project/rejections.js';
import { roleAtLeast } from '../../domain/role.js';
import type { OrderResource } from '../../../projections/orders/reader.js';
import type { Places } from '../shared/places.js';
import { rejectUseCase } from '../shared/rejections.js';

export interface PlaceOrderInput {
  readonly buyer: { readonly userId: string; readonly twoFactorEnabled: boolean };
  readonly planId: string;
  readonly provider: PaymentProviderName;
  /** Default: the provider's currency. A currency that the provider does not take is refused. */
  readonly currency?: string | undefined;
  /** Required for a plan of a project; the buyer must be its admin or owner. */
  readonly projectId?: string | undefined;
}

/**
 * Places an order, which a callback of the platform reports as paid (docs/design.md#plans-and-orders).
 * @throws CommandRejected plan_not_available, invalid_request, project_not_found, insufficient_role,
 * two_factor_required, provider_not_configured, order_limit_reached
 */
export type PlaceOrder = (
  input: PlaceOrderInput,
  context: CommandContext,
) => Promise<Versioned<OrderResource>>;

export function makePlaceOrder({
  handler,
  plans,
  paymentProviders,
  projects,
  orders,
  places,
}: Pick<Deps, 'handler' | 'plans' | 'projects' | 'orders' | 'paymentProviders'> & {
  readonly places: Places;
}): PlaceOrder {
  return async ({ buyer, planId, provider, currency = defaultCurrency(provider), projectId }, context) => {
    if (!isPayableIn(provider, currency)) invalid('currency', `${provider} pays in CNY alone`);
    const { plan, amount } = findOffer(plans, { planId, currency });
    if (isForProject(plan)) {
      if (projectId === undefined) invalid('project_id', 'the plan is for a project');
      await requireAdmin(projectId, buyer);
    } else if (projectId !== undefined) {
      invalid('project_id', 'the plan is for a user, not for a project');
    }
    if (!paymentProviders.has(provider)) {
      rejectUseCase(
        'provider_not_configured',
        `${provider} is not configured, so the order could not be paid`,
      );
    }
    const id = derivedId(context, 'order');
    await places.take(buyer.userId, id);
    const { documents } = await handler.handle(
      { aggregate: orderAggregate, id },
      {
        type: 'Place',
        userId: buyer.userId,
        projectId: projectId ?? null,
        planId,
        grant: plan.grants,
        provider,
        amount,
        currency,
        expiresAt: new Date(context.time.getTime() + orderLifeMs),
      },
      context,
    );
    return orders.after(documents);
  };

  async function requireAdmin(projectId: string, buyer: PlaceOrderInput['buyer']): Promise<void> {
    const project = await projects.access(projectId);
    const role = project?.roleOf(buyer.userId) ?? null;
    if (project === null || role === null) {
      return rejectProject('project_not_found', 'there is no such project');
    }
    if (!roleAtLeast(role, 'admin')) {
      rejectProject('insufficient_role', 'buying for a project needs the role admin');
    }
    if (project.requireTwoFactor && !buyer.twoFactorEnabled) {
      rejectProject('two_factor_required', 'the project requires two-factor authentication');
    }
  }
}
