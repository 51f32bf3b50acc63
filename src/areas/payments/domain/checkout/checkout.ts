import { defineAggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import { type CheckoutEvent, checkoutEvents } from './events.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type CheckoutRejection =
  /** The order has no such payment, or less than the amount remains of it. */
  'refund_not_possible';

export function rejectCheckout(code: CheckoutRejection, message: string): never {
  throw new CommandRejected<CheckoutRejection>(code, message);
}

type DataOf<Type extends CheckoutEvent['type']> = Extract<CheckoutEvent, { type: Type }>['data'];

/** A payment that the platform made. */
export type MadePaymentData = DataOf<'PaymentMade'>;

export type MadeReference = Pick<DataOf<'PaymentApproved'>, 'provider' | 'reference'>;

/** A refund that an operator asked for. `outcome`: null while the platform has not answered. */
export type AskedRefund = Pick<DataOf<'RefundAsked'>, 'refund' | 'provider' | 'transaction_id' | 'amount'> & {
  readonly currency: string;
  readonly outcome: 'refused' | { readonly refundId: string } | null;
};

/** A buyer's approval of a payment, by the name of its report. `outcome`: null while it is not captured. */
export type Approval = DataOf<'PaymentApproved'> & { readonly outcome: 'accepted' | 'refused' | null };

/** What the service asked the platform of one order to do. */
export interface CheckoutState {
  /** The latest payment; null while none was made. */
  readonly payment: MadePaymentData | null;
  /** The platform's ids of all payments that it made; without those that have none. */
  readonly made: readonly MadeReference[];
  readonly approvals: readonly Approval[];
  readonly refunds: readonly AskedRefund[];
}

type CheckoutCommand =
  | { readonly type: 'RecordPayment'; readonly payment: MadePaymentData; readonly now: Date }
  /** Appends nothing for a payment that the service did not make. */
  | { readonly type: 'Approve'; readonly approved: DataOf<'PaymentApproved'> }
  | { readonly type: 'AcceptCapture'; readonly approval: string }
  | { readonly type: 'RefuseCapture'; readonly approval: string; readonly code: string | null }
  | {
      readonly type: 'AskRefund';
      readonly refund: DataOf<'RefundAsked'>;
      /** Returns what can go back of the transaction besides these refunds, in minor units. */
      readonly remaining: (refunds: readonly AskedRefund[]) => number;
    }
  | { readonly type: 'AcceptRefund'; readonly refund: string; readonly refundId: string }
  | { readonly type: 'RefuseRefund'; readonly refund: string; readonly code: string | null };

/** Bounds the stream: an order whose refunds need more is refunded at the platform. */
const refundsMax = 100;
/** Bounds the stream: a platform reports an approval each time that the buyer approves. */
export const approvalsMax = 50;

const initialState: CheckoutState = { payment: null, made: [], approvals: [], refunds: [] };

function evolve(state: CheckoutState, event: CheckoutEvent): CheckoutState {
  switch (event.type) {
    case 'PaymentMade': {
      const { provider, reference } = event.data;
      const made = reference === null ? state.made : [...state.made, { provider, reference }];
      return { ...state, payment: event.data, made };
    }
    case 'PaymentApproved':
      return { ...state, approvals: [...state.approvals, { ...event.data, outcome: null }] };
    case 'CaptureAccepted':
      return afterCapture(state, event.data.approval, 'accepted');
    case 'CaptureRefused':
      return afterCapture(state, event.data.approval, 'refused');
    case 'RefundAsked': {
      const { refund, provider, transaction_id, amount, currency } = event.data;
      const asked = { refund, provider, transaction_id, amount, currency, outcome: null };
      return { ...state, refunds: [...state.refunds, asked] };
    }
    case 'RefundAccepted':
      return withOutcome(state, event.data.refund, { refundId: event.data.refund_id });
    case 'RefundRefused':
      return withOutcome(state, event.data.refund, 'refused');
  }
}

function afterCapture(state: CheckoutState, approval: string, outcome: Approval['outcome']): CheckoutState {
  const approvals = state.approvals.map((one) => (one.approval === approval ? { ...one, outcome } : one));
  return { ...state, approvals };
}

function withOutcome(state: CheckoutState, refund: string, outcome: AskedRefund['outcome']): CheckoutState {
  const refunds = state.refunds.map((one) => (one.refund === refund ? { ...one, outcome } : one));
  return { ...state, refunds };
}

/** Keeps the first payment that can be paid; a second one, made at the same time, is ignored. */
function decide(command: CheckoutCommand, state: CheckoutState): readonly CheckoutEvent[] {
  switch (command.type) {
    case 'RecordPayment':
      if (payablePayment(state, command.now) !== null) return [];
      return [{ type: 'PaymentMade', data: command.payment }];
    case 'Approve':
      if (!isApprovalOwed(state, command.approved)) return [];
      return [{ type: 'PaymentApproved', data: command.approved }];
    case 'AcceptCapture':
    case 'RefuseCapture':
      return endCapture(command, state);
    case 'AskRefund':
      return askRefund(command, state);
    case 'AcceptRefund':
      if (!isOpen(state, command.refund)) return [];
      return [{ type: 'RefundAccepted', data: { refund: command.refund, refund_id: command.refundId } }];
    case 'RefuseRefund':
      if (!isOpen(state, command.refund)) return [];
      return [{ type: 'RefundRefused', data: { refund: command.refund, code: command.code } }];
  }
}

function endCapture(
  command: Extract<CheckoutCommand, { type: 'AcceptCapture' | 'RefuseCapture' }>,
  { approvals }: CheckoutState,
): readonly CheckoutEvent[] {
  const { approval } = command;
  const open = approvals.find((one) => one.approval === approval && one.outcome === null);
  if (open === undefined) return [];
  const { reference } = open;
  if (command.type === 'AcceptCapture') return [{ type: 'CaptureAccepted', data: { reference, approval } }];
  return [{ type: 'CaptureRefused', data: { reference, approval, code: command.code } }];
}

function askRefund(
  { refund, remaining }: Extract<CheckoutCommand, { type: 'AskRefund' }>,
  { refunds }: CheckoutState,
): readonly CheckoutEvent[] {
  // The id derives from the request, so an earlier attempt asked.
  if (refunds.some((one) => one.refund === refund.refund)) return [];
  if (refunds.length >= refundsMax)
    rejectCheckout('refund_not_possible', `the service has asked for ${refundsMax} refunds of this order`);
  // Another id is another refund for the platform, which may have made the first one.
  const open = refunds.find((one) => one.transaction_id === refund.transaction_id && one.outcome === null);
  if (open !== undefined) {
    rejectCheckout(
      'refund_not_possible',
      `a refund of ${open.amount} ${open.currency} has no answer yet; ask for it again with repeats: ${open.refund}`,
    );
  }
  if (refund.amount > remaining(refunds))
    rejectCheckout('refund_not_possible', 'amount is more than what remains of the payment');
  return [{ type: 'RefundAsked', data: refund }];
}

function isOpen({ refunds }: CheckoutState, refund: string): boolean {
  return refunds.some((one) => one.refund === refund && one.outcome === null);
}

/** Returns whether the approval is news, of a payment that the service made for the order. */
function isApprovalOwed(
  { made, approvals }: CheckoutState,
  { provider, reference, approval }: DataOf<'PaymentApproved'>,
): boolean {
  const isKnown = approvals.some((one) => one.approval === approval);
  if (isKnown || approvals.length >= approvalsMax) return false;
  return isPaymentMade(made, { provider, reference });
}

export function isPaymentMade(
  made: readonly MadeReference[],
  { provider, reference }: MadeReference,
): boolean {
  return made.some((one) => one.provider === provider && one.reference === reference);
}

/** Returns whether the approval waits for its capture. After one capture that the platform took on, no other is due. */
export function isCaptureDue({ approvals }: CheckoutState, approval: string): boolean {
  if (approvals.some(({ outcome }) => outcome === 'accepted')) return false;
  return approvals.some((one) => one.approval === approval && one.outcome === null);
}

/** Returns the payment that the buyer can pay now, or null. */
export function payablePayment({ payment }: CheckoutState, now: Date): MadePaymentData | null {
  return payment !== null && new Date(payment.expires_at) > now ? payment : null;
}

export const checkoutAggregate = defineAggregate(checkoutEvents, { initialState, decide, evolve });
