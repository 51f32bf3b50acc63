import { hash } from 'node:crypto';
import { z } from 'zod';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import { makeKeyedMutex } from '../../../../kit/semaphore.js';
import { invalid } from '../../../../validation/field-problems.js';
import { cutText } from '../../../../validation/text.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { rejectUseCase, whenKeyDestroyed } from '../../../shared/rejections.js';
import type { PaymentDeps } from '../../deps.js';
import {
  type Approval,
  type CheckoutState,
  type MadePaymentData,
  checkoutAggregate,
  isCaptureDue,
  payablePayment,
} from '../../domain/checkout/checkout.js';
import { orderNumber } from '../../domain/payment.js';
import {
  type PlacedOrder,
  canTakeMoney,
  isOpen,
  orderAggregate,
  paymentUnderWay,
} from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import { PlatformError } from '../../domain/platform-error.js';
import type { PaymentMaker, PaymentRequest } from '../../platforms/payment-maker.js';
import { askPlatform } from '../platforms.js';
import type { orderPaymentWay } from '../resources.js';

interface PayOrderInput {
  readonly user_id: string;
  readonly order_id: string;
  /** Where the platform sends the buyer afterwards. Default: the service's own page. */
  readonly return_url?: string | undefined;
  readonly client_ip: string;
  readonly is_mobile: boolean;
}

type PaymentWayOfOrder = z.output<typeof orderPaymentWay>;

interface PaymentOf {
  readonly input: PayOrderInput;
  readonly order: PlacedOrder;
  readonly checkout: CheckoutState;
}

/**
 * Calls of one user at once. They wait for one another: those for one order make one payment, and those for many orders take one
 * place in the queue of the platform, so that the calls of other buyers find room there.
 */
const waitingMax = 4;
const titleMax = 100;

const storedWay = z.strictObject({ url: z.string(), fields: z.record(z.string(), z.string()).optional() });

/** Makes the use case that makes a payment for an order at its platform (src/areas/payments/platforms/README.md#paying). */
export function makePaying(deps: PaymentDeps) {
  const { handler, sealer, projects, plans, paymentMakers, publicUrl, browserOrigins, onFailure } = deps;
  const oneByOne = makeKeyedMutex({ waitingMax });
  return { checkReturnUrl, payOrder };

  /**
   * Checks what needs no store. An address of another origin would make the platform's page a link to any site, in the shop's
   * name. So the address must be of the service or of `ALLOWED_ORIGINS`. @throws CommandRejected invalid_request
   */
  function checkReturnUrl(returnUrl: string | undefined): void {
    if (returnUrl === undefined) return;
    const url = URL.canParse(returnUrl) ? new URL(returnUrl) : null;
    if (url === null || url.username !== '' || url.password !== '') invalid('return_url', 'must be a URL');
    if (url.protocol !== 'https:' && publicUrl.startsWith('https:')) invalid('return_url', 'must be https');
    if (!browserOrigins.includes(url.origin))
      invalid('return_url', 'must be of the origin of the service or of ALLOWED_ORIGINS', 'not_allowed');
  }

  /**
   * Makes a payment. While the buyer can pay it, every further call returns the same payment. Its callback confirms it; this
   * call changes nothing of the order.
   * @throws CommandRejected order_not_found, order_not_open, payment_pending, payment_not_offered, invalid_request,
   * payment_refused, platform_unavailable
   */
  async function payOrder(input: PayOrderInput, context: CommandContext): Promise<PaymentWayOfOrder> {
    checkReturnUrl(input.return_url);
    const { order_id } = input;
    const order = await requirePayable(input, context.time);
    const maker = paymentMakers.get(order.provider);
    if (maker === undefined) {
      return rejectUseCase(
        'payment_not_offered',
        `the service makes no payment at ${order.provider}; pay with the order’s number`,
      );
    }
    return oneByOne(input.user_id, async () => {
      const checkout = await loadCheckout(order_id);
      const known = payablePayment(checkout, context.time);
      return wayOf(order_id, known ?? (await make(maker, { input, order, checkout }, context)));
    });
  }

  async function requirePayable({ user_id, order_id }: PayOrderInput, now: Date): Promise<PlacedOrder> {
    const { state: order } = await handler.load(orderAggregate, order_id);
    if (order.status === 'absent' || order.user_id !== user_id) return rejectAbsent();
    const pending = paymentUnderWay(order);
    if (pending !== null) {
      const since = new Date(pending.pending_ms).toISOString();
      const named = pending.transaction_id === null ? 'a payment' : `the payment ${pending.transaction_id}`;
      return rejectOrder(
        'payment_pending',
        `${named} is under way at ${order.provider} since ${since}; wait for its end`,
      );
    }
    if (!isOpen(order) || new Date(order.expires_at) <= now)
      return rejectOrder('order_not_open', 'the order cannot be paid any more');
    // Money for a project that is gone would buy nothing.
    if (order.project_id !== null && (await projects.access(order.project_id)) === null)
      return rejectOrder('order_not_open', 'the project of the order is deleted');
    return order;
  }

  async function make(maker: PaymentMaker, of: PaymentOf, context: CommandContext): Promise<MadePaymentData> {
    const { order_id: orderId } = of.input;
    const { provider } = of.order;
    const request = requestOf(of);
    const made = await askPlatform(
      { provider, work: 'make a payment' },
      () => maker.makePayment(request),
      onFailure,
    );
    const scope = { kind: 'person', userId: of.order.user_id } as const;
    const way = { url: made.url, ...(made.kind === 'form' ? { fields: made.fields } : {}) };
    const sealing = sealer.seal(scope, wayField(orderId), JSON.stringify(way));
    const payment = {
      project_id: of.order.project_id,
      provider,
      kind: made.kind,
      reference: made.reference,
      expires_at: made.expiresAt.toISOString(),
      // The buyer may be erased meanwhile.
      way: await sealing.catch(whenKeyDestroyed(rejectAbsent)),
      way_of: of.order.user_id,
    };
    const command = { type: 'RecordPayment', payment, now: context.time } as const;
    await handler.handle(checkoutAggregate.at(orderId), command, context);
    // Another process may have recorded another payment first. Its way is the one that buyers see.
    return (await loadCheckout(orderId)).payment ?? payment;
  }

  function requestOf({ input, order, checkout }: PaymentOf): PaymentRequest {
    const {
      order_id: orderId,
      return_url: returnUrl = null,
      client_ip: clientIp,
      is_mobile: isMobile,
    } = input;
    const { provider, amount, currency, plan_id, expires_at } = order;
    const title = cutText(plans.find(({ id }) => id === plan_id)?.name ?? plan_id, titleMax);
    return {
      orderNumber: orderNumber(orderId),
      price: { amount, currency },
      title,
      // As it was checked: another parser could read another host in the text of the caller.
      returnUrl: returnUrl === null ? null : new URL(returnUrl).href,
      callbackUrl: `${publicUrl}/api/v1/payment/webhooks/${provider}`,
      expiresAt: new Date(expires_at),
      ...{ clientIp, isMobile },
      // A platform refuses a key that comes with another request, so what the caller chooses is a part of it.
      // A platform repeats its reply to a known key, so a payment after an expired one has another.
      idempotencyKey: hash(
        'sha256',
        JSON.stringify([orderId, checkout.payment?.expires_at ?? null, title, returnUrl, isMobile]),
      ),
    };
  }

  async function loadCheckout(orderId: string): Promise<CheckoutState> {
    return (await handler.load(checkoutAggregate, orderId)).state;
  }

  async function wayOf(
    orderId: string,
    { provider, kind, way, way_of: userId, expires_at }: MadePaymentData,
  ): Promise<PaymentWayOfOrder> {
    const opened = await sealer.open({ kind: 'person', userId }, wayField(orderId), way);
    if (opened === erased) return rejectAbsent();
    const { url, fields } = storedWay.parse(JSON.parse(opened));
    return { provider, kind, url, ...(fields === undefined ? {} : { fields }), expires_at };
  }
}

function rejectAbsent(): never {
  return rejectOrder('order_not_found', 'there is no such order');
}

function wayField(orderId: string): string {
  return `payment-way/${orderId}`;
}

/** What became of a capture. A refused one moves no money. `code`: the platform's. */
type CaptureOutcome =
  { readonly kind: 'accepted' } | { readonly kind: 'refused'; readonly code: string | null };

/**
 * Captures each approved payment (src/areas/payments/platforms/README.md#captures). The platform's callback reports the money, so
 * this changes nothing of the order. While the platform is away, it is asked again until the order expires.
 */
export function captureApprovedPayments({ handler, clock, paymentMakers, onFailure }: PaymentDeps) {
  return on(checkoutAggregate, ['PaymentApproved'], {
    name: 'capture-approved-payments',
    isDue: async (id, { data }) => {
      const { state } = await handler.load(checkoutAggregate, id);
      return isCaptureDue(state, data.approval) && needsMoney(id);
    },
    perform: ({ data }) => capture(data),
    run: (id, context, { data: { approval } }, outcome: CaptureOutcome) =>
      handler.handle(
        checkoutAggregate.at(id),
        outcome.kind === 'accepted'
          ? { type: 'AcceptCapture', approval }
          : { type: 'RefuseCapture', approval, code: outcome.code },
        context,
      ),
  });

  /** Asks the platform; a repetition takes the money once. @throws PlatformError unavailable, outcome_unknown */
  async function capture(approved: Omit<Approval, 'outcome'>): Promise<CaptureOutcome> {
    const { provider, reference, approval } = approved;
    const ask = paymentMakers.get(provider)?.capture;
    // The settings may come back before the order expires.
    if (ask === undefined) throw new PlatformError('unavailable', 'no_credentials');
    // The buyer may approve again after a refusal, and the platform would repeat its reply to a known key.
    const idempotencyKey = hash('sha256', JSON.stringify(['capture', reference, approval]));
    try {
      await ask({ reference, idempotencyKey });
      return { kind: 'accepted' };
    } catch (error) {
      if (!(error instanceof PlatformError) || error.failure !== 'refused') throw error;
      onFailure(`${provider} did not capture an approved payment: ${error.code ?? 'no code'}`, error);
      return { kind: 'refused', code: error.code };
    }
  }

  /** Money for an order that is over, or whose recipient is gone, would buy nothing. */
  async function needsMoney(orderId: string): Promise<boolean> {
    const { state: order } = await handler.load(orderAggregate, orderId);
    if (order.status === 'absent' || !canTakeMoney(order, clock.now())) return false;
    const { state: buyer } = await handler.load(userAggregate, order.user_id);
    if (buyer.status !== 'registered') return false;
    if (order.project_id === null) return true;
    return (await handler.load(projectAggregate, order.project_id)).state.status === 'existing';
  }
}
