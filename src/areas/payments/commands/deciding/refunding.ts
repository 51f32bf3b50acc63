import { on } from '../../../../event-sourcing/effects/reaction.js';
import type { ReconcileRefund } from '../callbacks/reconciling.js';
import { derivedId, stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { invalid } from '../../../../validation/field-problems.js';
import { checkText } from '../../../../validation/text.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import type { PaymentDeps } from '../../deps.js';
import { type AskedRefund, checkoutAggregate, rejectCheckout } from '../../domain/checkout/checkout.js';
import { refundedOf, sum, takenOf } from '../../domain/order/facts.js';
import { orderNumber } from '../../domain/payment.js';
import { type PlacedOrder, clockSkewMs, orderAggregate, placed } from '../../domain/order/order.js';
import type { Capture } from '../../domain/order/unused.js';
import { PlatformError } from '../../domain/platform-error.js';
import type { PaymentMaker, RefundRequest } from '../../platforms/payment-maker.js';
import { askPlatform } from '../platforms.js';
import type { refundRequest } from './requests.js';
import { sealPaymentNote } from './resolving.js';
import type { z } from 'zod';
import type { orderRefund } from '../resources.js';

type RefundOrderInput = z.output<typeof refundRequest> & { readonly order_id: string };
type OrderRefund = z.output<typeof orderRefund>;

/** Makes the use case of refunds (src/areas/payments/platforms/README.md#refunds). */
export function makeRefunding(deps: PaymentDeps) {
  const { handler, paymentMakers, publicUrl, onFailure, clock } = deps;
  return { refundOrder };

  /**
   * Asks the platform to give money back. The platform's callback confirms the refund and moves the order. The same command
   * again asks with the same key, so the platform makes one refund.
   * @throws CommandRejected invalid_request, order_not_found, refund_not_possible, payment_not_offered, payment_refused,
   * platform_unavailable
   */
  async function refundOrder(input: RefundOrderInput, context: CommandContext): Promise<OrderRefund> {
    const { order_id: orderId } = input;
    const note = checkText(input.note, 'note', 1_000);
    const id = input.repeats ?? derivedId(context, 'refund');
    const before = await refundsOf(orderId);
    const asked = before.find(({ refund }) => refund === id);
    if (asked === undefined && input.repeats !== undefined)
      rejectCheckout('refund_not_possible', 'repeats names no refund of the order');
    const { order, capture } = await paymentOf(input, asked?.transaction_id ?? input.transaction_id);
    const makeRefund = refundCallOf(paymentMakers.get(capture.provider), capture);
    const refund = asked ?? (await ask({ id, note, order, capture }, input, context));
    if (refund.outcome === 'refused')
      return rejectUseCase('payment_refused', `${capture.provider} refused to make this refund`);
    const { amount, currency, transaction_id } = refund;
    const given = { id, order_id: orderId, transaction_id, amount, currency };
    // The platform took it on. It forgets the key in time (PayPal after hours), and would then make another refund.
    if (refund.outcome !== null) return { ...given, refund_id: refund.outcome.refundId };
    const request = {
      ...{ orderNumber: orderNumber(orderId), transactionId: refund.transaction_id },
      amount: { amount: refund.amount, currency: refund.currency },
      paid: { amount: capture.amount, currency: capture.currency },
      callbackUrl: `${publicUrl}/api/v1/payment/webhooks/${capture.provider}`,
      idempotencyKey: id,
    };
    const reported =
      asked === undefined ? null : reportedAs(order, capture, { asked, refunds: before, now: clock.now() });
    const making = () => refundOrRecord(orderId, { makeRefund, request }, context);
    const what = { provider: capture.provider, work: 'make a refund' };
    const refundId = reported ?? (await askPlatform(what, making, onFailure));
    const accepted = { type: 'AcceptRefund', refund: id, refundId } as const;
    await handler.handle(checkoutAggregate.at(orderId), accepted, stepContext(context, 'accepted'));
    return { ...given, refund_id: refundId };
  }

  /** Asks the platform, and records its refusal. */
  async function refundOrRecord(
    orderId: string,
    input: { readonly makeRefund: NonNullable<PaymentMaker['refund']>; readonly request: RefundRequest },
    context: CommandContext,
  ): Promise<string> {
    const { makeRefund, request } = input;
    try {
      return await makeRefund(request);
    } catch (error) {
      if (error instanceof PlatformError && error.failure === 'refused') {
        const refused = { type: 'RefuseRefund', refund: request.idempotencyKey, code: error.code } as const;
        await handler.handle(checkoutAggregate.at(orderId), refused, stepContext(context, 'refused'));
      }
      throw error;
    }
  }

  async function ask(
    input: {
      readonly id: string;
      readonly note: string;
      readonly order: PlacedOrder;
      readonly capture: PaidCapture;
    },
    { order_id: orderId, amount }: RefundOrderInput,
    context: CommandContext,
  ): Promise<AskedRefund> {
    const { id, note, order, capture } = input;
    const remaining = (refunds: readonly AskedRefund[]): number => remainingOf(order, capture, refunds);
    const whole = remaining(await refundsOf(orderId));
    if (whole <= 0) rejectCheckout('refund_not_possible', 'nothing remains of the payment');
    const { provider, currency, transaction_id } = capture;
    const refund = {
      project_id: order.project_id,
      ...{ refund: id, provider, transaction_id, amount: amount ?? whole, currency },
      ...(await sealPaymentNote(deps, { paymentId: id, buyerId: order.user_id }, note)),
    };
    const command = { type: 'AskRefund', refund, remaining } as const;
    await handler.handle(checkoutAggregate.at(orderId), command, stepContext(context, 'ask'));
    return { ...refund, outcome: null };
  }

  async function paymentOf({ order_id: orderId }: RefundOrderInput, transactionId: string | undefined) {
    const order = placed((await handler.load(orderAggregate, orderId)).state);
    const named = order.captures
      .filter(isNamed)
      .filter(({ transaction_id }) => transactionId === undefined || transaction_id === transactionId);
    const [capture, ...others] = named;
    if (capture === undefined) return rejectCheckout('refund_not_possible', 'the order has no such payment');
    if (others.length > 0) invalid('transaction_id', 'is missing: the order has several payments', 'missing');
    return { order, capture };
  }

  async function refundsOf(orderId: string): Promise<readonly AskedRefund[]> {
    return (await handler.load(checkoutAggregate, orderId)).state.refunds;
  }
}

type PaidCapture = Capture & { readonly transaction_id: string };

function isNamed(capture: Capture): capture is PaidCapture {
  return capture.transaction_id !== null;
}

function refundCallOf(
  maker: PaymentMaker | undefined,
  { provider }: Capture,
): NonNullable<PaymentMaker['refund']> {
  if (maker?.refund !== undefined) return maker.refund;
  return rejectUseCase(
    'payment_not_offered',
    `the service makes no refund at ${provider}; refund there, and its callback moves the order`,
  );
}

/**
 * Returns what can go back of a payment: what was paid less what was refunded, taken back or is on its way. A refund that the service
 * asked for counts until the platform refused it, or reported it as failed. A platform that reports totals alone names no
 * refund, so there the larger of both figures counts; the platform refuses what is too much.
 */
function remainingOf(
  { facts }: Pick<PlacedOrder, 'facts'>,
  { transaction, transaction_id, amount, currency }: Capture,
  asked: readonly AskedRefund[],
): number {
  const { about, ledger } = ledgerOf(facts, { transaction, currency });
  const taken = about === undefined || ledger === undefined ? 0 : takenOf(about, ledger);
  const reported = ledger?.refunds ?? [];
  const known = sum(reported.filter(({ status }) => status === 'pending' || status === 'succeeded'));
  const unreported = asked.filter(
    (one) =>
      one.transaction_id === transaction_id &&
      one.outcome !== 'refused' &&
      !isReported(one.outcome?.refundId),
  );
  const total = ledger === undefined ? 0 : refundedOf(ledger);
  return amount - taken - Math.max(total, known + sum(unreported));

  function isReported(refundId: string | undefined): boolean {
    return reported.some(({ id }) => id === refundId);
  }
}

/**
 * Returns the platform's id of a refund without an answer, where it has reported a refund of this amount since the service
 * asked; else null. A platform forgets the key in time, and would make another refund.
 */
function reportedAs(
  { facts }: Pick<PlacedOrder, 'facts'>,
  capture: Pick<Capture, 'transaction' | 'currency'>,
  {
    asked,
    refunds,
    now,
  }: { readonly asked: AskedRefund; readonly refunds: readonly AskedRefund[]; readonly now: Date },
): string | null {
  const answered = refunds.flatMap(({ outcome }) =>
    outcome === null || outcome === 'refused' ? [] : [outcome.refundId],
  );
  const askedMs = Number.parseInt(asked.refund.replaceAll('-', '').slice(0, 12), 16);
  // A time that is further ahead is of a clock that was set back since, and says nothing.
  const sinceMs = askedMs - now.getTime() > clockSkewMs ? 0 : askedMs - clockSkewMs;
  const found = ledgerOf(facts, capture).ledger?.refunds.find(
    ({ id, status, amount, at_ms }) =>
      (status === 'pending' || status === 'succeeded') &&
      amount === asked.amount &&
      at_ms >= sinceMs &&
      !answered.includes(id),
  );
  return found?.id ?? null;
}

function ledgerOf(
  { transactions }: PlacedOrder['facts'],
  { transaction, currency }: Pick<Capture, 'transaction' | 'currency'>,
) {
  const about = transactions.find(({ id }) => id === transaction);
  return { about, ledger: about?.ledgers.find((one) => one.currency === currency) };
}

/** How long the platform's own report may take. */
const reportMs = 86_400_000;
/** A question that is later than this is superfluous, so a lost checkpoint does not ask for old refunds again. */
const lateMs = 30 * reportMs;

/**
 * Asks once for each refund whose end was not reported within a day. The daily run asks for young orders only, and Alipay reports no
 * refund of some payments by itself.
 */
export function askForRefunds({
  clock,
  reconcileRefund,
}: Pick<PaymentDeps, 'clock'> & { readonly reconcileRefund: ReconcileRefund }) {
  return on(checkoutAggregate, ['RefundAsked'], {
    name: 'ask-for-refunds',
    hasTimers: true,
    deadline: ({ recordedAt }) => new Date(recordedAt.getTime() + lateMs),
    isDue: async (id, { recordedAt, data: { provider, refund } }) => {
      const dueAt = new Date(recordedAt.getTime() + reportMs);
      // Its stream is read only when it is due.
      if (clock.now() < dueAt) return { notBefore: dueAt };
      return reconcileRefund.isOpen(id, provider, refund);
    },
    run: (id, context, { data: { provider } }) =>
      reconcileRefund.ask(id, provider, { ...context, time: clock.now() }),
  });
}
