import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { Overloaded } from '../event-sourcing/errors.js';
import { stepContext } from '../event-sourcing/ids.js';
import { isDue, orderAggregate, type PlacedOrder } from '../domain/order/order.js';
import { holds, projectAggregate } from '../domain/project/project.js';
import { userAggregate } from '../domain/user/user.js';

/**
 * Grants what was bought while the facts say so, and takes it back when they do not (DESIGN 3, "Orders keep facts"). The
 * grant has the order as its source, so that giving and taking back are about this order's alone.
 */
export interface FulfilOrder {
  /** Whether what is granted differs from what the facts say. */
  isOwed(orderId: string): Promise<boolean>;
  /**
   * Ends only when it has seen the grant agree with the facts after its own last step: whoever writes last looks last, so
   * that of two who act on different facts neither leaves behind what the other has undone.
   * @throws StoreUnavailable, Overloaded
   */
  fulfil(orderId: string, context: CommandContext): Promise<void>;
}

/** Where the grant goes, as its log has it. */
type Recipient =
  /** The user is erased or the project deleted: nothing can be granted, and nothing needs to be taken back. */
  | { readonly status: 'gone' }
  | { readonly status: 'there'; readonly holds: boolean; readonly revision: bigint };

interface Situation {
  readonly order: PlacedOrder;
  readonly revision: bigint;
  readonly recipient: Recipient;
}

type Step = 'grant' | 'take-back' | 'mark';

const stepsMax = 50;

export function makeFulfilOrder({ handler }: { readonly handler: CommandHandler }): FulfilOrder {
  return {
    isOwed: async (orderId) => nextStep(await look(orderId)) !== null,
    fulfil: async (orderId, context) => {
      for (let step = 0; step < stepsMax; step += 1) {
        const situation = await look(orderId);
        const next = nextStep(situation);
        if (next === null || situation === null) return;
        await take(next, orderId, situation, context);
      }
      throw new Overloaded(`the facts of an order changed ${stepsMax} times while it was fulfilled`);
    },
  };

  async function look(orderId: string): Promise<Situation | null> {
    const { state: order, revision } = await handler.load(orderAggregate, orderId);
    if (order.status === 'absent' || revision === null) return null;
    return { order, revision, recipient: await recipientOf(orderId, order) };
  }

  async function recipientOf(orderId: string, { grant, userId, projectId }: PlacedOrder): Promise<Recipient> {
    if ('capacity_bytes' in grant) {
      const { state, revision } = await handler.load(userAggregate, userId);
      if (state.status !== 'registered' || revision === null) return { status: 'gone' };
      return { status: 'there', holds: state.capacity.has(orderId), revision };
    }
    const { state, revision } = await handler.load(projectAggregate, projectId ?? '');
    if (state.status !== 'existing' || revision === null) return { status: 'gone' };
    const { entitlement } = grant;
    return { status: 'there', holds: holds(state, { entitlement, source: orderId }), revision };
  }

  /** A step is a command of its own for each revision that it was decided on: the same step may come again later. */
  async function take(
    step: Step,
    orderId: string,
    { order, revision, recipient }: Situation,
    context: CommandContext,
  ): Promise<void> {
    if (step === 'mark') {
      const type = isDue(order) ? 'MarkFulfilled' : 'MarkRevoked';
      const target = { aggregate: orderAggregate, id: orderId };
      await handler.handle(target, { type }, stepContext(context, `mark/${revision}`));
      return;
    }
    if (recipient.status === 'gone') return;
    const { grant, userId, projectId } = order;
    const asked = stepContext(context, `${step}/${recipient.revision}`);
    const source = orderId;
    if ('capacity_bytes' in grant) {
      const bytes = grant.capacity_bytes;
      const target = { aggregate: userAggregate, id: userId };
      await handler.handle(
        target,
        step === 'grant' ? { type: 'GrantCapacity', source, bytes } : { type: 'RevokeCapacity', source },
        asked,
      );
      return;
    }
    const target = { aggregate: projectAggregate, id: projectId ?? '' };
    const type = step === 'grant' ? 'GrantEntitlement' : 'RevokeEntitlement';
    await handler.handle(target, { type, entitlement: grant.entitlement, source }, asked);
  }
}

/** First the grant itself, then the order's word for it; null when nothing is left to do. */
function nextStep(situation: Situation | null): Step | null {
  if (situation === null) return null;
  const { order, recipient } = situation;
  const due = isDue(order);
  if (recipient.status === 'gone') return order.isGranted && !due ? 'mark' : null;
  if (recipient.holds !== due) return due ? 'grant' : 'take-back';
  return order.isGranted === due ? null : 'mark';
}
