import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { Overloaded } from '../../../../kit/overloaded.js';
import type { PrepareFurther } from '../../../../event-sourcing/deciding/command-handler.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import {
  type GoneReason,
  isDue,
  isRecipientOwed,
  orderAggregate,
  type PlacedOrder,
} from '../../domain/order/order.js';
import { holds, projectAggregate } from '../../../projects/domain/project/project.js';
import { hasCapacityFrom, userAggregate } from '../../../accounts/domain/user/user.js';

/**
 * Grants what was bought while the order's facts say so, and otherwise revokes it (src/areas/payments/README.md#orders).
 * The grant names the order as its source, so the grants of other orders do not change.
 */
export interface FulfilOrder {
  /** Says whether the grant differs from the facts. */
  isOwed(orderId: string): Promise<boolean>;
  /**
   * Repeats steps until a read after the last step shows that the grant agrees with the facts. So when two processes
   * act on different facts, the one that writes last corrects the grant.
   * @throws StoreUnavailable, Overloaded
   */
  fulfil(orderId: string, context: CommandContext): Promise<void>;
}

/** The user or project of the grant, read from its stream. */
type Recipient =
  /** The user is erased or the project deleted: there is nothing to grant or to revoke, and a payment is reported. */
  | { readonly status: 'gone'; readonly reason: GoneReason }
  | { readonly status: 'there'; readonly holds: boolean; readonly revision: bigint };

interface Situation {
  readonly order: PlacedOrder;
  readonly revision: bigint;
  readonly recipient: Recipient;
}

type Step = 'grant' | 'take-back' | 'mark' | 'report';

const stepsMax = 50;

export function makeFulfilOrder({ handler }: Pick<PaymentDeps, 'handler'>): FulfilOrder {
  return {
    isOwed: async (orderId) => nextFulfilmentStep(await load(orderId)) !== null,
    fulfil: async (orderId, context) => {
      for (let step = 0; step < stepsMax; step += 1) {
        const situation = await load(orderId);
        const next = nextFulfilmentStep(situation);
        if (next === null || situation === null) return;
        await run(next, orderId, situation, context);
      }
      throw new Overloaded(`the facts of an order changed ${stepsMax} times while it was fulfilled`);
    },
  };

  async function load(orderId: string): Promise<Situation | null> {
    const { state: order, revision } = await handler.load(orderAggregate, orderId);
    if (order.status === 'absent' || revision === null) return null;
    return { order, revision, recipient: await recipientOf(orderId, order) };
  }

  async function recipientOf(orderId: string, { grant, userId, projectId }: PlacedOrder): Promise<Recipient> {
    if ('capacity_bytes' in grant) {
      const { state, revision } = await handler.load(userAggregate, userId);
      if (state.status !== 'registered' || revision === null) {
        return { status: 'gone', reason: 'buyer_erased' };
      }
      return { status: 'there', holds: hasCapacityFrom(state, orderId), revision };
    }
    const { state, revision } = await handler.load(projectAggregate, projectId ?? '');
    if (state.status !== 'existing' || revision === null) {
      return { status: 'gone', reason: 'project_deleted' };
    }
    const { entitlement } = grant;
    return { status: 'there', holds: holds(state, { entitlement, source: orderId }), revision };
  }

  /** A step's command id contains the revision that it was decided on, because the same step may come again. */
  async function run(
    step: Step,
    orderId: string,
    { order, revision, recipient }: Situation,
    context: CommandContext,
  ): Promise<void> {
    const ofOrder = { aggregate: orderAggregate, id: orderId };
    const mark = { type: isDue(order) ? 'MarkFulfilled' : 'MarkRevoked' } as const;
    const marked = stepContext(context, `mark/${revision}`);
    if (step === 'mark') {
      await handler.handle(ofOrder, mark, marked);
      return;
    }
    if (recipient.status === 'gone') {
      const command = { type: 'MarkRecipientGone', reason: recipient.reason } as const;
      await handler.handle(ofOrder, command, stepContext(context, `gone/${revision}`));
      return;
    }
    const { grant, userId, projectId } = order;
    const stepped = stepContext(context, `${step}/${recipient.revision}`);
    const source = orderId;
    const options = { further: (_: unknown, prepare: PrepareFurther) => prepare(ofOrder, mark, marked) };
    if ('capacity_bytes' in grant) {
      const bytes = grant.capacity_bytes;
      const target = { aggregate: userAggregate, id: userId };
      await handler.handle(
        target,
        step === 'grant' ? { type: 'GrantCapacity', source, bytes } : { type: 'RevokeCapacity', source },
        stepped,
        options,
      );
      return;
    }
    const target = { aggregate: projectAggregate, id: projectId ?? '' };
    const type = step === 'grant' ? 'GrantEntitlement' : 'RevokeEntitlement';
    await handler.handle(target, { type, entitlement: grant.entitlement, source }, stepped, options);
  }
}

/** Returns the grant itself first, then its mark on the order; null when both agree with the facts. */
export function nextFulfilmentStep(situation: Situation | null): Step | null {
  if (situation === null) return null;
  const { order, recipient } = situation;
  const due = isDue(order);
  if (recipient.status === 'gone') return stepWithoutRecipient(order);
  if (recipient.holds !== due) return due ? 'grant' : 'take-back';
  return order.is_granted === due ? null : 'mark';
}

/** A payment that no person can use is reported to the operators: src/areas/payments/README.md#orders. */
function stepWithoutRecipient(order: PlacedOrder): Step | null {
  if (order.is_granted && !isDue(order)) return 'mark';
  return isRecipientOwed(order) ? 'report' : null;
}
