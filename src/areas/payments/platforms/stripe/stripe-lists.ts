import { invalid } from '../../../../validation/field-problems.js';
import { type Fields, at, listAt, textAt, timeAt } from '../calls/parsing.js';
import type { VerifiedCallback } from '../payment-provider.js';
import { unreadableReply } from '../calls/platform-calls.js';
import type { ReportList } from '../payment-maker.js';
import type { StripeClient, StripeForm } from './stripe-client.js';
import { isOfPaymentLink, readStripeEvent, readStripeReport, stripeFields } from './stripe-events.js';
import { fieldsAt, verified } from '../keys/verification.js';

/** The events that docs/payments/stripe.md#at-stripe names. Stripe takes 20 at most. */
export const stripeEventTypes: readonly string[] = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.processing',
  'payment_intent.canceled',
  'charge.refunded',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.closed',
];

/** Stripe lists the events of 30 days ("List all events"). The last hour is left to the other lists. */
const eventsMs = 30 * 86_400_000 - 3_600_000;
const pageMax = 50;
/** A charge or a session has up to 50 fields of metadata, with 500 characters each. */
const bodyBytesMax = 4_194_304;

/** A list of Stripe's: the events, and the objects of periods whose events are gone. */
interface StripeList {
  readonly name: string;
  readonly path: string;
  readonly filter: StripeForm;
  /** Returns the report of an item; null for an item without a fact, or with a fact that another list has. */
  readonly read: (item: unknown, livemode: boolean | undefined) => VerifiedCallback | null;
}

const events: StripeList = {
  name: 'events',
  path: '/v1/events',
  filter: stripeEventTypes.map((type, index) => [`types[${index}]`, type]),
  read: (item, livemode) => readStripeReport(item as Fields, livemode) ?? unreadableReply(),
};

const objects: readonly StripeList[] = [
  {
    ...{ name: 'sessions', path: '/v1/checkout/sessions', filter: [] },
    read: readObject((session) =>
      typeAt(session, { complete: 'checkout.session.completed', expired: 'checkout.session.expired' }),
    ),
  },
  {
    ...{ name: 'payment_intents', path: '/v1/payment_intents', filter: [] },
    // The intent of a session has no number, and the session reports its payment.
    read: readObject((intent) =>
      textAt(intent, 'metadata.order_id') === null
        ? null
        : typeAt(intent, {
            succeeded: 'payment_intent.succeeded',
            processing: 'payment_intent.processing',
            canceled: 'payment_intent.canceled',
          }),
    ),
  },
  { ...{ name: 'refunds', path: '/v1/refunds', filter: [] }, read: readObject(() => 'refund.updated') },
  {
    ...{ name: 'disputes', path: '/v1/disputes', filter: [] },
    read: readObject(() => 'charge.dispute.closed'),
  },
];

/**
 * Makes the lists of what Stripe reported: its events, and for a period that begins earlier also the objects themselves.
 * The key of an event is that of its callback. A cursor is the name of a list, and the id of the last item that was read.
 * @param livemode undefined accepts both modes
 */
export function makeStripeLists(deps: {
  readonly client: StripeClient;
  readonly livemode: boolean | undefined;
  readonly now: () => Date;
}): ReportList {
  const { client, livemode, now } = deps;
  return {
    listReports: async ({ from, to }, after) => {
      const isRecent = now().getTime() - from.getTime() <= eventsMs;
      const lists = isRecent ? [events] : [events, ...objects];
      const { list, last } = after === null ? { list: events, last: '' } : cursorOf(after);
      const page = await client({
        ...{ method: 'GET', path: list.path, bodyBytesMax },
        form: [
          ['created[gte]', seconds(from)],
          ['created[lt]', seconds(to)],
          ['limit', String(pageMax)],
          ...(last === '' ? [] : [['starting_after', last] as const]),
          ...list.filter,
        ],
      });
      const items = listAt(page, 'data');
      const reports = items.map((item) => list.read(item, livemode)).filter((report) => report !== null);
      if (at(page, 'has_more') === true)
        return { reports, next: `${list.name}/${textAt(items.at(-1), 'id') ?? unreadableReply()}` };
      const next = lists[lists.indexOf(list) + 1];
      return { reports, next: next === undefined ? null : `${next.name}/` };
    },
  };
}

/** @throws CommandRejected invalid_request */
function cursorOf(after: string): { readonly list: StripeList; readonly last: string } {
  const [, name, last = ''] = /^([a-z_]+)\/([0-9A-Za-z_]{0,255})$/.exec(after) ?? [];
  const list = [events, ...objects].find((one) => one.name === name);
  return list === undefined ? invalid('after', 'is no `next` of such a call') : { list, last };
}

/** An object tells its state, so its content is the key. A refund or a dispute has that state now, at no earlier time. */
function readObject(typeOf: (object: unknown) => string | null): StripeList['read'] {
  return (object, livemode) => {
    const type = typeOf(object);
    if (type === null) return null;
    const isMoment = type.startsWith('refund.') || type.startsWith('charge.dispute.');
    const mode = at(object, 'livemode');
    const isOfMode = livemode === undefined || mode === undefined || mode === livemode;
    const { callback } = verified({
      key: '',
      isOurs: isOfMode && !isOfPaymentLink(object),
      notifications: [readStripeEvent(type, object, isMoment ? null : timeAt(object, 'created'))],
      fields: fieldsAt({ data: { object } }, stripeFields),
    });
    return { ...callback, key: `listed-${callback.digest}` };
  };
}

function typeAt(object: unknown, types: Readonly<Record<string, string>>): string | null {
  const status = textAt(object, 'status') ?? '';
  return Object.hasOwn(types, status) ? (types[status] ?? null) : null;
}

function seconds(time: Date): string {
  return String(Math.ceil(time.getTime() / 1_000));
}
