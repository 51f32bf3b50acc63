import { stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { paymentNoteScope } from '../../../../keys/sealing/envelope.js';
import { unmatchedPosition } from '../../../../../projections/payments/payment-callbacks/reader.js';
import { invalid } from '../../../../validation/field-problems.js';
import { checkText } from '../../../../validation/text.js';
import { whenKeyDestroyed, whenRejected } from '../../../shared/rejections.js';
import type { PaymentDeps } from '../../deps.js';
import { platformOf } from '../../domain/order/events.js';
import {
  factName,
  ownStreamId,
  parseOrderNumber,
  parsePaymentId,
  reportName,
  transactionStreamId,
  type PaymentAction,
  type ResolutionNote,
} from '../../domain/payment.js';
import { type PlacedOrder, orderAggregate, placed, unusedPayments } from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import {
  type PaymentRejection,
  rejectPayment,
  reportAt,
  transactionAggregate,
} from '../../domain/transaction/transaction.js';
import type { PaymentReports } from '../callbacks/reports.js';
import type { DismissalRequest } from './requests.js';
import type { z } from 'zod';
import type { paymentResolution } from '../resources.js';

export interface ResolvePaymentInput {
  /** A pending report, or a mismatch in review: see `parsePaymentId`. */
  readonly id: string;
  readonly action: PaymentAction;
  /** The order that a report is applied to. */
  readonly order_id: string | null;
  /** Why: 1 to 1,000 characters. */
  readonly note: string;
}
type Decision = Omit<ResolvePaymentInput, 'id'>;

type PaymentResolution = z.output<typeof paymentResolution>;

/** `next`: the cursor of the next call; null when no callback follows that was received early enough. */
type DismissedUnmatched = { readonly dismissed: number; readonly next: string | null };

const pageSize = 100;
/** A request has 15 s in all (src/http/access/README.md#limit-of-a-request). A slow store must not make it one of unknown outcome. */
const goesOnMsMax = 5_000;

/** Makes the use cases by which operators settle payments that no rule settles (src/areas/payments/README.md#settling). */
export function makeResolving(
  deps: Pick<PaymentDeps, 'handler' | 'sealer' | 'digests'> & { readonly paymentReports: PaymentReports },
) {
  const { handler, paymentReports } = deps;
  return { resolvePayment };

  /**
   * Decides on a payment. The decision is durable before it takes effect. The same decision again gives the same reply; a later,
   * different one is refused.
   * @throws CommandRejected invalid_request, payment_callback_not_found, payment_callback_not_held,
   * payment_callback_resolved, payment_callback_unreadable, payment_callback_full, order_not_found,
   * review_not_open, review_resolved, review_not_applicable
   */
  async function resolvePayment(
    { id, ...decided }: ResolvePaymentInput,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    const { stream, revision, index } = parsePaymentId(id) ?? notFound();
    const decision = { ...decided, note: checkText(decided.note, 'note', 1_000) };
    if (decision.action === 'dismiss' && decision.order_id !== null)
      invalid('order_id', 'must be left out: it is for what is applied', 'not_allowed');
    if (index !== null) return resolveReview(id, await ordersOf(stream, revision, index), decision, context);
    return resolveReport(stream, revision, decision, context);
  }

  async function resolveReport(
    stream: string,
    revision: number,
    { action, order_id, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    if (action === 'apply' && order_id === null) invalid('order_id', 'is missing', 'missing');
    const order = order_id === null ? null : await requireRoom(order_id, stream, revision);
    const id = reportName(stream, revision);
    const sealed = await sealPaymentNote(deps, { paymentId: id, buyerId: order?.user_id ?? null }, note);
    const resolution = { report: revision, action, order_id, ...sealed };
    const command = { type: 'Resolve', resolution } as const;
    await handler.handle(transactionAggregate.at(stream), command, stepContext(context, 'resolve'));
    if (action === 'dismiss') return { id, action, order_id: null, disposition: 'ignored' };
    const applied = await paymentReports.apply(stream, 'link', stepContext(context, 'apply'));
    return { id, action, order_id, disposition: applied.get(revision) ?? 'ignored' };
  }

  /** A decided report is in no list, so what the order would refuse is not decided on. */
  async function requireRoom(orderId: string, stream: string, revision: number): Promise<PlacedOrder> {
    const order = placed((await handler.load(orderAggregate, orderId)).state);
    if (await paymentReports.hasRoom(orderId, stream, revision)) return order;
    return rejectPayment(
      'payment_callback_full',
      'the order keeps no more reports; decide on what waits of it in review, or dismiss this',
    );
  }

  async function resolveReview(
    name: string,
    orderIds: readonly (string | null)[],
    { action, order_id: named, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    const { orderId, order } = await reviewedOrder(name, orderIds);
    if (named !== null && named !== orderId)
      invalid('order_id', 'is another than the order in review', 'not_allowed');
    const sealed = await sealPaymentNote(deps, { paymentId: name, buyerId: order.user_id }, note);
    const command = { type: 'ResolveReview', callback: name, action, note: sealed } as const;
    await handler.handle(orderAggregate.at(orderId), command, stepContext(context, 'review'));
    return { id: name, action, order_id: orderId, disposition: action === 'apply' ? 'applied' : 'ignored' };
  }

  /** Returns the orders that may have found the fact of a report a mismatch. */
  async function ordersOf(
    stream: string,
    revision: number,
    index: number,
  ): Promise<readonly (string | null)[]> {
    const { state } = await handler.load(transactionAggregate, stream);
    const report = reportAt(state, revision);
    const { transaction_id: of, order_number: number } = report.notifications[index] ?? notFound();
    if (report.is_forwarded !== true) return [report.order_id, state.link?.order_id ?? null];
    const own = ownStreamId(platformOf(stream), factName(stream, report, index));
    const transaction = of === null ? own : transactionStreamId(platformOf(stream), of);
    const links = [transaction, own].map((id) => handler.load(transactionAggregate, id));
    const linked = (await Promise.all(links)).map(({ state: { link } }) => link?.order_id ?? null);
    return [parseOrderNumber(number ?? ''), ...linked];
  }

  async function reviewedOrder(name: string, orderIds: readonly (string | null)[]) {
    for (const orderId of orderIds) {
      const order = orderId === null ? null : await paymentReports.placedOrder(orderId);
      if (orderId !== null && order !== null && isNamedIn(order, name)) return { orderId, order };
    }
    return rejectOrder('review_not_open', 'no review with this id is open');
  }
}

export function makeDismissing(
  deps: Pick<PaymentDeps, 'paymentCallbacks' | 'clock'> & {
    readonly resolvePayment: (
      input: ResolvePaymentInput,
      context: CommandContext,
    ) => Promise<PaymentResolution>;
  },
) {
  const { resolvePayment, paymentCallbacks, clock } = deps;
  return { dismissUnmatched };

  /**
   * Dismisses callbacks that lead to no order, as an operator would dismiss each. Otherwise callbacks of other shops that
   * share the account with the platform stay unmatched for ever. A call reads `pageSize` transactions, the oldest first, and
   * goes on for `goesOnMsMax`. It leaves a callback alone that has found its order or has another decision. The same call again
   * dismisses the rest. @throws CommandRejected invalid_request
   */
  async function dismissUnmatched(
    { reason, provider, received_before, note, after }: DismissalRequest,
    context: CommandContext,
  ): Promise<DismissedUnmatched> {
    checkText(note, 'note', 1_000);
    const page = { limit: pageSize, ...(after === null ? {} : { after }) };
    const waiting = await paymentCallbacks.unmatched(page);
    const beganMs = clock.steadyMs();
    let [dismissed, passed] = [0, 0];
    for (const item of waiting) {
      if (clock.steadyMs() - beganMs > goesOnMsMax) break;
      passed += 1;
      // The list shows the oldest report of a transaction alone. The others would take its place behind the call.
      for (const report of isMeant(item) ? await paymentCallbacks.pendingWith(item.id) : [])
        if (isMeant(report) && (await dismiss(report.id))) dismissed += 1;
    }
    return { dismissed, next: nextAfter(waiting[passed - 1], passed < waiting.length) };

    function nextAfter(last: (typeof waiting)[number] | undefined, isCut: boolean): string | null {
      const hasMore = isCut || waiting.length === pageSize;
      return last !== undefined && hasMore && isEarly(last) ? unmatchedPosition(last) : null;
    }

    function isMeant(item: (typeof waiting)[number]): boolean {
      const isOfProvider = provider === undefined || item.provider === provider;
      return item.reason === reason && isOfProvider && isEarly(item);
    }

    function isEarly({ received_at }: { readonly received_at: string }): boolean {
      return Date.parse(received_at) < Date.parse(received_before);
    }

    async function dismiss(id: string): Promise<boolean> {
      const decision = { id, action: 'dismiss', order_id: null, note } as const;
      const codes = ['payment_callback_not_held', 'payment_callback_resolved'] as const;
      const resolving = resolvePayment(decision, stepContext(context, `dismiss/${id}`));
      return resolving.then(
        () => true,
        whenRejected<PaymentRejection>(...codes)(() => false),
      );
    }
  }
}

/** Returns whether a mismatch, a payment that bought nothing, or a decision of the order has this name. */
function isNamedIn(order: PlacedOrder, name: string): boolean {
  const waiting = [...order.mismatches, ...unusedPayments(order)];
  return waiting.some(({ id }) => id === name) || order.resolved.has(name);
}

function notFound(): never {
  return rejectPayment('payment_callback_not_found');
}

/**
 * Seals an operator's note on a payment. It may name the buyer, so the buyer's key seals it, and an erasure makes it
 * unreadable. A note on a payment without an order, or of an erased buyer, has a separate key.
 * @param about.buyerId the user of the order; null: there is no order
 */
export async function sealPaymentNote(
  { sealer, digests }: Pick<PaymentDeps, 'sealer' | 'digests'>,
  about: { readonly paymentId: string; readonly buyerId: string | null },
  note: string,
): Promise<ResolutionNote> {
  const { paymentId, buyerId } = about;
  const digest = digests.of('payment-note', JSON.stringify([paymentId, note]));
  const sealedFor = async (personId: string | null): Promise<ResolutionNote> => {
    const { scope, field } = paymentNoteScope(paymentId, personId);
    return { note: await sealer.seal(scope, field, note), note_of: personId, note_digest: digest };
  };
  if (buyerId === null) return sealedFor(null);
  return sealedFor(buyerId).catch(whenKeyDestroyed(() => sealedFor(null)));
}
