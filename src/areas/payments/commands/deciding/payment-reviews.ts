import { atSite, html } from '../../../../mail/layout.js';
import { letter } from '../../../accounts/mail/letter.js';
import type { MailMessage } from '../../../../mail/mailer.js';
import type { ReviewResource } from '../../../../../projections/payments/orders/resource.js';

/** A payment that waits for an operator. It names no person. */
export type WaitingPayment = Pick<
  ReviewResource,
  'id' | 'order_number' | 'reason' | 'kind' | 'amount' | 'currency'
>;

/** Writes the daily mail to operators. @param data.hasMore whether more payments wait than the listed ones */
export function paymentReviewsMessage(review: {
  readonly waiting: readonly WaitingPayment[];
  readonly hasMore: boolean;
  readonly publicUrl: string;
}): MailMessage {
  const { waiting, hasMore, publicUrl } = review;
  const subject = 'Payments wait for a decision';
  const lead = `These payments of Stowage${atSite(publicUrl)} wait for an operator:`;
  const lines = waiting.map(lineOf);
  const rest = hasMore ? ['More payments wait than this mail lists.'] : [];
  const advice =
    'GET /api/v1/admin/payments/review and stowage payments review list them all. The guide "Payments that wait for an ' +
    'operator" says what each reason means. The next mail comes in a day, while a payment waits.';
  const list = `<ul>${lines.map((line) => html`<li>${line}</li>`).join('')}</ul>`;
  return letter(subject, lead, { text: lines.join('\n'), html: list }, ...rest, advice);
}

function lineOf({ id, order_number, reason, kind, amount, currency }: WaitingPayment): string {
  const money = amount === null || currency === null ? '' : `, ${amount} minor units of ${currency}`;
  return `order ${order_number}: ${reason} (${kind}${money}), payment ${id}`;
}
