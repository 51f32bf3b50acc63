import { beginning, type CommandContext, type CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import type { Versioned } from '../event-sourcing/views.js';
import { invalid } from '../domain/invalid-request.js';
import { orderAggregate, orderLifeMs } from '../domain/order/order.js';
import { defaultCurrency, findOffer, isForProject, isPayableIn, type Plan } from '../domain/order/plans.js';
import type { PaymentProviderName } from '../domain/payment.js';
import { rejectProject } from '../domain/project/rejections.js';
import { roleAtLeast } from '../domain/role.js';
import type { OrderReader, OrderResource } from '../../projections/orders/reader.js';
import type { ProjectReader } from '../../projections/projects/reader.js';
import type { Places } from './places.js';
import { rejectUseCase } from './rejections.js';

export interface PlaceOrderInput {
  readonly buyer: { readonly userId: string; readonly twoFactorEnabled: boolean };
  readonly planId: string;
  readonly provider: PaymentProviderName;
  /** The provider's own when left out; what it cannot be paid in is refused. */
  readonly currency?: string | undefined;
  /** For plans that give something to a project; the buyer must be its admin or owner. */
  readonly projectId?: string | undefined;
}

/**
 * Places an order, which a platform's callback then pays (DESIGN 4.5).
 * @throws CommandRejected plan_not_available, invalid_request, project_not_found, insufficient_role, two_factor_required,
 *   provider_not_configured, order_limit_reached
 */
export type PlaceOrder = (
  input: PlaceOrderInput,
  context: CommandContext,
) => Promise<Versioned<OrderResource>>;

export function makePlaceOrder({
  handler,
  plans,
  providers,
  projects,
  orders,
  places,
}: {
  readonly handler: CommandHandler;
  readonly plans: readonly Plan[];
  /** Those that are set up. */
  readonly providers: { has(name: PaymentProviderName): boolean };
  readonly projects: Pick<ProjectReader, 'access'>;
  readonly orders: Pick<OrderReader, 'after'>;
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
    if (!providers.has(provider)) {
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
      beginning(context),
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
