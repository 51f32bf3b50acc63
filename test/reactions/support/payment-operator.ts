import { notificationName } from '../../../src/commands/payment-ids.js';
import { isRejection, type Rejection } from '../../../src/commands/rejections.js';
import type { ResolvePaymentInput } from '../../../src/commands/resolve-payment.js';
import type { CommandContext } from '../../../src/event-sourcing/command-handler.js';
import type { Random } from '../../../src/event-sourcing/clock.js';
import { callbackOf } from './payment-expectation.js';
import type { PaymentProcess, PaymentProcesses } from './payment-processes.js';
import { pick, type Scene, type SceneMessage } from './payment-scene.js';

/** What an operator may be told instead: they decide on whatever comes to their mind. */
const refusals: readonly Rejection[] = [
  ...(['payment_callback_not_found', 'payment_callback_not_held', 'payment_callback_unreadable'] as const),
  ...(['review_not_open', 'review_not_applicable', 'transaction_of_another_order'] as const),
];

/**
 * An operator who decides on payments at any time, also on those that do not wait. What they once decided they decide again where
 * they were not answered.
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
    /** On any of them. */
    decide: () => {
      const message = pick(random, messages);
      return tell(decisionOn(pick(random, namesOf(message))));
    },
    /** On some that nobody has decided on, and on all that was left open. */
    finish: async () => {
      for (const message of messages) {
        for (const id of namesOf(message)) if (random() < 0.4) decisionOn(id);
      }
      for (const decision of decisions.values()) await tell(decision);
    },
  };

  /** A whole callback, and each of the things that it tells. */
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
