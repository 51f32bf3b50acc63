import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { loadOfNew } from '../../../../event-sourcing/deciding/command-handler.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import type { Versioned } from '../../../../event-sourcing/views/views.js';
import { invalid } from '../../../../validation/invalid-request.js';
import type { GuardRefusal } from '../../../accounts/domain/guard.js';
import { orderAggregate, orderLifeMs } from '../../domain/order/order.js';
import { defaultCurrency, findOffer, isForProject, whyNotPayable } from '../../domain/order/plans.js';
import type { PaymentProviderName } from '../../domain/payment.js';
import { rejectProject } from '../../../projects/domain/project/rejections.js';
import { roleAtLeast } from '../../../projects/domain/role.js';
import type { OrderResource } from '../../../../../projections/payments/orders/reader.js';
import type { CountLimit } from '../../../shared/count-limit.js';
import { rejectUseCase } from '../../../shared/rejections.js';

export interface PlaceOrderInput {
  readonly buyer: {
    readonly userId: string;
    /** Why the session may not enter a project that requires a second factor; null: it may. */
    readonly guarded: GuardRefusal | null;
  };
  readonly planId: string;
  readonly provider: PaymentProviderName;
  /** Default: the provider's currency. A currency that the provider does not take is refused. */
  readonly currency?: string | undefined;
  /** Required for a plan of a project; the buyer must be its admin or owner. */
  readonly projectId?: string | undefined;
}

/**
 * Places an order, which a callback of the platform reports as paid (src/areas/payments/README.md#plans-and-orders).
 * @throws CommandRejected invalid_request, project_not_found, insufficient_role,
 * two_factor_required, provider_not_configured, order_limit_reached
 */
export type PlaceOrder = (
  input: PlaceOrderInput,
  context: CommandContext,
) => Promise<Versioned<OrderResource>>;

/** Checks what needs no store. @throws CommandRejected invalid_request */
export type CheckOrder = (
  input: Pick<PlaceOrderInput, 'planId' | 'provider' | 'currency' | 'projectId'>,
) => ReturnType<typeof findOffer> & {
  readonly currency: string;
  /** The project that the plan is for; null: it is for the user. */
  readonly projectId: string | null;
};

export function makeCheckOrder({ plans }: Pick<PaymentDeps, 'plans'>): CheckOrder {
  return ({ planId, provider, currency = defaultCurrency(provider), projectId }) => {
    const { plan, amount } = findOffer(plans, { planId, currency });
    const problem = whyNotPayable(provider, { amount, currency });
    if (problem !== null) invalid('currency', `cannot be used: ${problem}`, 'not_allowed');
    if (isForProject(plan) && projectId === undefined)
      invalid('project_id', 'is missing: the plan is for a project', 'missing');
    if (!isForProject(plan) && projectId !== undefined) {
      invalid('project_id', 'must be left out: the plan is for a user', 'not_allowed');
    }
    return { plan, amount, currency, projectId: projectId ?? null };
  };
}

export function makePlaceOrder({
  handler,
  plans,
  paymentProviders,
  projects,
  orders,
  limit,
}: Pick<PaymentDeps, 'handler' | 'plans' | 'projects' | 'orders' | 'paymentProviders'> & {
  readonly limit: CountLimit;
}): PlaceOrder {
  const checkOrder = makeCheckOrder({ plans });
  return async (input, context) => {
    const { buyer, planId, provider } = input;
    const { plan, amount, currency, projectId } = checkOrder(input);
    if (projectId !== null) await requireAdmin(projectId, buyer);
    if (!paymentProviders.has(provider)) {
      rejectUseCase(
        'provider_not_configured',
        `${provider} is not configured, so the order could not be paid`,
      );
    }
    const id = derivedId(context, 'order');
    const command = {
      type: 'Place',
      userId: buyer.userId,
      projectId,
      planId,
      grant: plan.grants,
      provider,
      amount,
      currency,
      expiresAt: new Date(context.time.getTime() + orderLifeMs),
    } as const;
    const { documents } = await limit.adding(buyer.userId, id, () =>
      handler.handle({ aggregate: orderAggregate, id }, command, context, loadOfNew(context)),
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
    if (project.requireTwoFactor && buyer.guarded !== null) {
      rejectProject('two_factor_required', buyer.guarded.message);
    }
  }
}
