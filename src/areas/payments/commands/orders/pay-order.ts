import { hash } from 'node:crypto';
import { z } from 'zod';
import { makeKeyedMutex } from '../../../../kit/keyed-mutex.js';
import {
  checkoutAggregate,
  type CheckoutState,
  type MadePaymentData,
  payablePayment,
} from '../../domain/checkout/checkout.js';
import { invalid } from '../../../../validation/invalid-request.js';
import { orderNumber } from '../../domain/order/number.js';
import { isOpen, orderAggregate, paymentUnderWay, type PlacedOrder } from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { MadePayment, PaymentMaker, PaymentRequest } from '../../platforms/payment-maker.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { PaymentDeps } from '../../deps.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import { askPlatform } from '../platforms.js';

export interface PayOrderInput {
  readonly userId: string;
  readonly orderId: string;
  /** Where the platform sends the buyer afterwards. Default: the service's own page. */
  readonly returnUrl?: string | undefined;
  readonly clientIp: string;
  readonly isMobile: boolean;
}

/** How the buyer pays. */
export interface PaymentWayOfOrder {
  readonly provider: PlacedOrder['provider'];
  readonly kind: MadePayment['kind'];
  readonly url: string;
  /** The fields of a form; absent for the other kinds. */
  readonly fields?: Record<string, string>;
  readonly expires_at: string;
}

/**
 * Makes a payment for an order at its platform (src/areas/payments/platforms/README.md#paying). While the buyer can pay it, every further call
 * returns the same payment. Its callback confirms it; this call changes nothing of the order.
 * @throws CommandRejected order_not_found, order_not_open, payment_pending, payment_not_offered, invalid_request,
 * payment_refused, platform_unavailable
 */
export type PayOrder = (input: PayOrderInput, context: CommandContext) => Promise<PaymentWayOfOrder>;

/** Checks what needs no store. @throws CommandRejected invalid_request */
export type CheckReturnUrl = (returnUrl: string | undefined) => void;

interface PaymentOf {
  readonly input: PayOrderInput;
  readonly order: PlacedOrder;
  readonly checkout: CheckoutState;
}

/** Calls for one order at once. They wait for one another, so that they make one payment. */
const waitingMax = 4;
const titleMax = 100;

const storedWay = z.strictObject({
  url: z.string(),
  fields: z.record(z.string(), z.string()).optional(),
});

/**
 * An address of another origin would make the platform's page a link to any site, in the shop's name. So the address must
 * be of the service or of `ALLOWED_ORIGINS`.
 */
export function makeCheckReturnUrl({
  browserOrigins,
  publicUrl,
}: Pick<PaymentDeps, 'browserOrigins' | 'publicUrl'>): CheckReturnUrl {
  return (returnUrl) => {
    if (returnUrl === undefined) return;
    const url = URL.canParse(returnUrl) ? new URL(returnUrl) : null;
    if (url === null || url.username !== '' || url.password !== '') invalid('return_url', 'must be a URL');
    if (url.protocol !== 'https:' && publicUrl.startsWith('https:')) invalid('return_url', 'must be https');
    if (!browserOrigins.includes(url.origin)) {
      invalid('return_url', 'must be of the origin of the service or of ALLOWED_ORIGINS', 'not_allowed');
    }
  };
}

export function makePayOrder(
  deps: Pick<
    PaymentDeps,
    | 'handler'
    | 'sealer'
    | 'projects'
    | 'plans'
    | 'paymentMakers'
    | 'publicUrl'
    | 'browserOrigins'
    | 'onFailure'
  >,
): PayOrder {
  const { handler, sealer, projects, plans, paymentMakers, publicUrl, onFailure } = deps;
  const checkReturnUrl = makeCheckReturnUrl(deps);
  const oneByOne = makeKeyedMutex({ waitingMax });

  return async (input, context) => {
    checkReturnUrl(input.returnUrl);
    const { orderId } = input;
    const order = await requirePayable(input, context.time);
    const maker = paymentMakers.get(order.provider);
    if (maker === undefined) {
      return rejectUseCase(
        'payment_not_offered',
        `the service makes no payment at ${order.provider}; pay with the order’s number`,
      );
    }
    return oneByOne(orderId, async () => {
      const checkout = await loadCheckout(orderId);
      const known = payablePayment(checkout, context.time);
      return wayOf(orderId, known ?? (await make(maker, { input, order, checkout }, context)));
    });
  };

  async function requirePayable({ userId, orderId }: PayOrderInput, now: Date): Promise<PlacedOrder> {
    const { state: order } = await handler.load(orderAggregate, orderId);
    if (order.status === 'absent' || order.userId !== userId) {
      return rejectOrder('order_not_found', 'there is no such order');
    }
    const pending = paymentUnderWay(order);
    if (pending !== null) {
      const since = new Date(pending.pending_ms).toISOString();
      const named = pending.transaction_id === null ? 'a payment' : `the payment ${pending.transaction_id}`;
      return rejectOrder(
        'payment_pending',
        `${named} is under way at ${order.provider} since ${since}; wait for its end`,
      );
    }
    if (!isOpen(order) || order.expiresAt <= now) {
      return rejectOrder('order_not_open', 'the order cannot be paid any more');
    }
    // Money for a project that is gone would buy nothing.
    if (order.projectId !== null && (await projects.access(order.projectId)) === null) {
      return rejectOrder('order_not_open', 'the project of the order is deleted');
    }
    return order;
  }

  async function make(maker: PaymentMaker, of: PaymentOf, context: CommandContext): Promise<MadePaymentData> {
    const { orderId } = of.input;
    const { provider } = of.order;
    const request = requestOf(of);
    const made = await askPlatform(
      { provider, work: 'make a payment' },
      () => maker.makePayment(request),
      onFailure,
    );
    const scope = { kind: 'person', userId: of.order.userId } as const;
    const way = { url: made.url, ...(made.kind === 'form' ? { fields: made.fields } : {}) };
    const payment = {
      project_id: of.order.projectId,
      provider,
      kind: made.kind,
      reference: made.reference,
      expires_at: made.expiresAt.toISOString(),
      way: await sealer.seal(scope, wayField(orderId), JSON.stringify(way)),
      way_of: of.order.userId,
    };
    const target = { aggregate: checkoutAggregate, id: orderId };
    await handler.handle(target, { type: 'RecordPayment', payment, now: context.time }, context);
    // Another process may have recorded another payment first. Its way is the one that buyers see.
    return (await loadCheckout(orderId)).payment ?? payment;
  }

  function requestOf({ input, order, checkout }: PaymentOf): PaymentRequest {
    const { orderId, returnUrl = null, clientIp, isMobile } = input;
    const { provider, amount, currency, planId, expiresAt } = order;
    const title = (plans.find(({ id }) => id === planId)?.name ?? planId).slice(0, titleMax);
    return {
      orderNumber: orderNumber(orderId),
      price: { amount, currency },
      title,
      returnUrl,
      callbackUrl: `${publicUrl}/api/v1/payment/webhooks/${provider}`,
      expiresAt,
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
    if (opened === erased) return rejectOrder('order_not_found', 'there is no such order');
    const { url, fields } = storedWay.parse(JSON.parse(opened));
    return { provider, kind, url, ...(fields === undefined ? {} : { fields }), expires_at };
  }
}

function wayField(orderId: string): string {
  return `payment-way/${orderId}`;
}
