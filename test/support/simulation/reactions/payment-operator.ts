import { notificationName } from '../../../../src/commands/orders/payment-ids.js';
import { isRejection, type Rejection } from '../../../../src/commands/shared/rejections.js';
import type { ResolvePaymentInput } from '../../../../src/commands/orders/resolve-payment.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import type { Random } from '../../../../src/event-sourcing/ports/clock.js';
import { callbackOf } from './payment-expectation.js';
import type { PaymentProcess, PaymentProcesses } from './payment-processes.js';
import { pick, type Scene, type SceneMessage } from './payment-scene.js';

/** The refusals that an operator may get, because the operator decides at random. */
const refusals: readonly Rejection[] = [
  ...(['payment_callback_not_found', 'payment_callback_not_held', 'payment_callback_unreadable'] as const),
  ...(['review_not_open', 'review_not_applicable', 'transaction_of_another_order'] as const),
];

/**
 * Makes an operator who decides on payments at any time, also on those that are not held. The operator repeats an
 * unanswered decision unchanged.
 */
export function makePaymentOperator({
  scene: { messages, orders },
  ...deps
}: {
  readonly scene: Scene;
  readonly random: Random;
  readonly processes: PaymentProcesses;
  readonly somewhere: () => PaymentProcess;
  readonly context: () => CommandContext;
}) {
  const { random, processes, somewhere, context } = deps;
  const decisions = new Map<string, ResolvePaymentInput>();

  return {
    /** Decides on a random callback or notification. */
    decide: () => {
      const message = pick(random, messages);
      return tell(decisionOn(pick(random, namesOf(message))));
    },
    /** Decides on some undecided ones, and repeats all decisions. */
    finish: async () => {
      for (const message of messages) {
        for (const id of namesOf(message)) if (random() < 0.4) decisionOn(id);
      }
      for (const decision of decisions.values()) await tell(decision);
    },
  };

  /** Returns the names of a whole callback and of each of its notifications. */
  function namesOf(message: SceneMessage): readonly string[] {
    const id = callbackOf(message);
    return [id, ...message.told.map((_, index) => notificationName(id, index))];
  }

  function decisionOn(id: string): ResolvePaymentInput {
    const isWhole = !id.includes('.');
    const action = random() < 0.6 ? 'apply' : 'dismiss';
    const orderId = isWhole && action === 'apply' ? pick(random, orders).id : null;
    const decision = decisions.get(id) ?? { id, action, orderId, note: 'why' };
    decisions.set(id, decision);
    return decision;
  }

  async function tell(decision: ResolvePaymentInput): Promise<void> {
    const told = somewhere().resolvePayment(decision, context());
    await processes.deliverable(told.catch(unlessRefused));
  }
}

function unlessRefused(error: unknown): void {
  if (!refusals.some((code) => isRejection(error, code))) throw error;
}
