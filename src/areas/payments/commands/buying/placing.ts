import {
  type NamedRevisions,
  loadOfNew,
  derivedId,
} from '../../../../event-sourcing/deciding/command-handler.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../../event-sourcing/views/views.js';
import type { OrderResource } from '../../../../../projections/payments/orders/resource.js';
import { invalid } from '../../../../validation/field-problems.js';
import type { GuardRefusal } from '../../../accounts/domain/guard.js';
import { projectNotFound, rejectProject } from '../../../projects/domain/project/rejections.js';
import { roleAtLeast } from '../../../projects/domain/role.js';
import { makeCountLimit } from '../../../shared/count-limit.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import type { PaymentDeps } from '../../deps.js';
import {
  isExpiring,
  isOpen,
  openOrdersMax,
  orderAggregate,
  orderLifeMs,
  pendingMsMax,
} from '../../domain/order/order.js';
import { defaultCurrency, findOffer, isForProject, whyNotPayable } from '../../domain/order/plans.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import type { PaymentProviderName } from '../../domain/payment.js';

/** What is bought, and where it is paid. */
interface OrderInput {
  readonly plan_id: string;
  readonly provider: PaymentProviderName;
  /** Default: the provider's currency. A currency that the provider does not take is refused. */
  readonly currency?: string | undefined;
  /** Required for a plan of a project; the buyer must be its admin or owner. */
  readonly project_id?: string | undefined;
}

interface Buyer {
  readonly user_id: string;
  /** Why the session may not enter a project that requires a second factor; null: it may. */
  readonly guarded: GuardRefusal | null;
}

interface CancelOrderInput {
  readonly user_id: string;
  readonly order_id: string;
  readonly expectedRevision?: NamedRevisions | undefined;
}

/** Makes the use cases that place, cancel and expire orders (src/areas/payments/README.md#plans-and-orders). */
export function makePlacing({ handler, plans, paymentProviders, projects, orders }: PaymentDeps) {
  const targetOf = (id: string) => orderAggregate.at(id);
  /** The open orders of a user. A stale view refuses no order. */
  const limit = makeCountLimit({
    max: openOrdersMax,
    inView: (userId, max) => orders.openIds(userId, max),
    counts: async (id) => {
      const { state } = await handler.load(orderAggregate, id);
      return state.status !== 'absent' && isOpen(state);
    },
    refuse: () =>
      rejectOrder('order_limit_reached', `a user has at most ${openOrdersMax} orders that are not paid`),
  });
  return { checkOrder, placeOrder, cancelOrder };

  /** Checks what needs no store. @throws CommandRejected invalid_request */
  function checkOrder({ plan_id, provider, currency = defaultCurrency(provider), project_id }: OrderInput) {
    const { plan, amount } = findOffer(plans, { plan_id, currency });
    const problem = whyNotPayable(provider, { amount, currency });
    if (problem !== null) invalid('currency', `cannot be used: ${problem}`, 'not_allowed');
    if (isForProject(plan) && project_id === undefined)
      invalid('project_id', 'is missing: the plan is for a project', 'missing');
    if (!isForProject(plan) && project_id !== undefined)
      invalid('project_id', 'must be left out: the plan is for a user', 'not_allowed');
    const grant = plan.grants;
    return { plan_id, provider, grant, amount, currency, project_id: project_id ?? null };
  }

  /**
   * Places an order, which a callback of the platform reports as paid.
   * @throws CommandRejected invalid_request, project_not_found, insufficient_role, two_factor_required,
   * provider_not_configured, order_limit_reached
   */
  async function placeOrder(
    { buyer, ...input }: OrderInput & { readonly buyer: Buyer },
    context: CommandContext,
  ): Promise<Versioned<OrderResource>> {
    const ordered = checkOrder(input);
    const { provider, project_id } = ordered;
    if (project_id !== null) await requireAdmin(project_id, buyer);
    if (!paymentProviders.has(provider)) {
      rejectUseCase(
        'provider_not_configured',
        `${provider} is not configured, so the order could not be paid`,
      );
    }
    const { user_id } = buyer;
    const id = derivedId(context, 'order');
    const expires_at = new Date(context.time.getTime() + orderLifeMs).toISOString();
    const command = { type: 'Place', user_id, ...ordered, expires_at } as const;
    const placing = () => handler.handle(targetOf(id), command, context, loadOfNew(context));
    return orders.after((await limit.adding(user_id, id, placing)).documents);
  }

  /** Cancels an unpaid order. A payment that arrives later revives it. @throws CommandRejected order_not_found, order_not_open */
  async function cancelOrder(
    { user_id, order_id, ...options }: CancelOrderInput,
    context: CommandContext,
  ): Promise<Versioned<OrderResource>> {
    const { state } = await handler.load(orderAggregate, order_id);
    // The owner of an order never changes, so this check before `handle` holds.
    if (state.status === 'absent' || state.user_id !== user_id)
      rejectOrder('order_not_found', 'there is no such order');
    const { documents } = await handler.handle(targetOf(order_id), { type: 'Cancel' }, context, options);
    return orders.after(documents);
  }

  async function requireAdmin(projectId: string, buyer: Buyer): Promise<void> {
    const project = await projects.access(projectId);
    const role = project?.roleOf(buyer.user_id) ?? null;
    if (project === null || role === null) return projectNotFound();
    if (!roleAtLeast(role, 'admin'))
      rejectProject('insufficient_role', 'buying for a project needs the role admin');
    if (project.requireTwoFactor && buyer.guarded !== null)
      rejectProject('two_factor_required', buyer.guarded.message);
  }
}

/** Expires every order that is not paid in time, or whose payment no platform decides. Each order waits with a timer, and each pending payment. */
export function expireOrders({ handler, clock }: Pick<PaymentDeps, 'handler' | 'clock'>) {
  return on(orderAggregate, ['OrderPlaced', 'PaymentPending'], {
    name: 'expire-waiting-orders',
    hasTimers: true,
    isDue: async (id, event) => {
      const dueAt =
        event.type === 'OrderPlaced'
          ? new Date(event.data.expires_at)
          : new Date(Date.parse(event.data.at) + pendingMsMax);
      // Its stream is read only when it is due: a waiting order costs no reads.
      if (clock.now() < dueAt) return { notBefore: dueAt };
      const { state } = await handler.load(orderAggregate, id);
      return state.status === 'placed' && isExpiring(state, clock.now());
    },
    run: (id, context) =>
      handler.handle(orderAggregate.at(id), { type: 'Expire', now: clock.now() }, context),
  });
}
