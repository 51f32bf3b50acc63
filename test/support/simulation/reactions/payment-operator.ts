import type { Rejection } from '../../../../src/areas/rejections.js';
import { notificationName, reportName } from '../../../../src/areas/payments/domain/payment-ids.js';
import { isRejection } from '../../../../src/areas/shared/rejections.js';
import type { ResolvePaymentInput } from '../../../../src/areas/payments/commands/deciding/resolving.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import type { Random } from '../../../../src/kit/time/clock.js';
import { forwardedKey } from '../../given/forwarded-key.js';
import { callbackOf } from './payment-expectation.js';
import { textAt } from './payment-invariants.js';
import type { PaymentProcess, PaymentProcesses } from './payment-processes.js';
import { pick, type Scene, type SceneMessage } from './payment-scene.js';

/** The refusals that an operator may get, because the operator decides at random. */
const refusals: readonly Rejection[] = [
  ...(['payment_callback_not_found', 'payment_callback_not_held', 'payment_callback_unreadable'] as const),
  ...(['payment_callback_resolved'] as const),
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
    /** Decides on a random report or notification. */
    decide: async () => {
      const names = await namesOf(pick(random, messages));
      if (names.length > 0) await tell(decisionOn(pick(random, names)));
    },
    /** Decides on some undecided ones, and repeats all decisions. */
    finish: async () => {
      for (const message of messages) {
        for (const id of await namesOf(message)) if (random() < 0.4) decisionOn(id);
      }
      for (const decision of decisions.values()) await tell(decision);
    },
  };

  /** Returns the names of the accepted reports of a message, and of each of its facts. */
  async function namesOf(message: SceneMessage): Promise<readonly string[]> {
    const { events } = await processes.store.readAll({ after: null, limit: 100_000 });
    const id = callbackOf(message);
    const facts = message.told.map((_, index) => forwardedKey(id, index));
    const reports = events.filter(
      ({ type, data }) => type === 'PaymentReported' && [id, ...facts].includes(textAt(data, 'key')),
    );
    const names = reports.flatMap(({ stream, revision, data }) => {
      const name = reportName(stream.slice('transaction-'.length), Number(revision));
      return textAt(data, 'key') === id ? [name, ...facts.map((_, n) => notificationName(name, n))] : [name];
    });
    return [...names, ...facts];
  }

  function decisionOn(id: string): ResolvePaymentInput {
    const isWhole = !id.includes('.');
    const action = random() < 0.6 ? 'apply' : 'dismiss';
    const order_id = isWhole && action === 'apply' ? pick(random, orders).id : null;
    const decision = decisions.get(id) ?? { id, action, order_id, note: 'why' };
    decisions.set(id, decision);
    return decision;
  }

  async function tell(decision: ResolvePaymentInput): Promise<void> {
    const told = somewhere().resolvePayment(decision, context());
    await processes.deliverable(told.catch(unlessRefused));
  }
}

function unlessRefused(error: unknown): void {
  if (!refusals.some((code) => isRejection<Rejection>(error, code))) throw error;
}
