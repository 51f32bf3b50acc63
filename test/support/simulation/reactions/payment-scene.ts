import { orderNumber } from '../../../../src/areas/payments/domain/payment.js';
import type { OrderGrant } from '../../../../src/areas/payments/domain/order/events.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import type { Random } from '../../../../src/kit/time/clock.js';
import { pick, makeSeededRandom } from '../../fakes/clock.js';
import { projectId } from '../../examples/ids.js';
import type { TestMessage } from '../../fakes/test-payment-provider.js';

export type Platform = 'standard' | 'stripe';

export interface SceneOrder {
  readonly id: string;
  readonly project_id: string | null;
  readonly grant: OrderGrant;
  readonly provider: Platform;
  /** In minor units of USD. */
  readonly amount: number;
  /** The platform's payments of the order. In a contested scene they may wrongly name another order, too. */
  readonly transactions: readonly [string, string];
}

/** A message of a platform. Two messages may have one key, which is then the same message with other content. */
export interface SceneMessage extends TestMessage {
  readonly provider: Platform;
}

/** The orders, and the messages of the platforms on them. */
export interface Scene {
  readonly orders: readonly SceneOrder[];
  readonly messages: readonly SceneMessage[];
}

/** The time of a message that has no time. The times of the others are before it. */
export const receivedAt = new Date('2026-01-02T03:04:05.000Z');

const idOf = (n: number): string => `019b7d00-0000-7000-8000-00000000a00${n}`;
const forUser = { project_id: null, provider: 'standard' } as const;
const forProject = { project_id: projectId, grant: { entitlement: 'allow_s3' }, amount: 1_900 } as const;

/** Orders that give their buyer capacity, and orders that entitle one project. */
const catalogue: readonly SceneOrder[] = [
  { ...forUser, id: idOf(1), grant: { capacity_bytes: 5 }, amount: 999, transactions: ['t11', 't12'] },
  { ...forProject, id: idOf(2), provider: 'standard', transactions: ['t21', 't22'] },
  { ...forProject, id: idOf(3), provider: 'standard', transactions: ['t31', 't32'] },
  { ...forUser, id: idOf(4), grant: { capacity_bytes: 7 }, amount: 500, transactions: ['t41', 't42'] },
  // A payment of another platform may have the same id.
  { ...forProject, id: idOf(5), provider: 'stripe', transactions: ['t11', 't52'] },
];
const neverPlaced = orderNumber(idOf(9));

/**
 * Draws a scene from the seed.
 * @param messages the number of messages with one notification each; by default it is drawn, and some have two or three
 */
export function drawScene(seed: number, { messages: asked }: { readonly messages?: number } = {}): Scene {
  const random = makeSeededRandom(seed);
  const chance = (probability: number): boolean => random() < probability;
  const orders = catalogue.filter(() => chance(0.4));
  if (orders.length === 0) orders.push(pick(random, catalogue));
  const isContested = chance(0.2);
  const count = asked ?? 2 + Math.floor(random() * 9);
  const messages: SceneMessage[] = [];
  for (let left = count; left > 0;) {
    const size = Math.min(left, asked === undefined && chance(0.2) ? 2 + Math.floor(random() * 2) : 1);
    messages.push(drawMessage(`m${messages.length}`, size));
    left -= size;
  }
  if (asked === undefined && chance(0.15)) {
    const original = pick(random, messages);
    const isMoney = original.told.every(({ transaction, fact }) => transaction != null && 'amount' in fact);
    // The other content has the same transactions, so it meets the first in the same stream.
    if (isMoney)
      messages.push({ ...original, told: original.told.map((one) => ({ ...one, fact: otherFact })) });
  }
  return { orders, messages };

  function drawMessage(key: string, size: number): SceneMessage {
    const first = drawTold();
    const told = [first.told];
    while (told.length < size) told.push(drawTold().told);
    const others: Platform = first.order.provider === 'stripe' ? 'standard' : 'stripe';
    const provider = chance(0.04) ? others : first.order.provider;
    return { key, provider, isOurs: !chance(0.07), told };
  }

  function drawTold(): { readonly order: SceneOrder; readonly told: TestMessage['told'][number] } {
    const order = pick(random, orders);
    const { transactions } = isContested && chance(0.4) ? pick(random, orders) : order;
    const told = {
      number: pickWeighted(random, [
        [11, orderNumber(order.id)],
        [5, null],
        [2, 'NOT-OURS'],
        [1, neverPlaced],
      ]),
      transaction: chance(0.07) ? null : pick(random, transactions),
      fact: drawFact(random, order.amount),
      at: chance(0.08) ? null : new Date(Date.UTC(2026, 0, 2, 3, Math.floor(random() * 4))).toISOString(),
    };
    return { order, told };
  }
}

const otherFact: PaymentFact = { kind: 'refunded-in-total', amount: 1, currency: 'USD' };

/** Draws a fact. Payments are more frequent, because all other facts depend on them. */
function drawFact(random: Random, price: number): PaymentFact {
  const paid = { kind: 'paid', amount: price, currency: 'USD' } as const;
  const currency = random() < 0.05 ? 'EUR' : 'USD';
  const part = Math.floor(price / 3);
  return pickWeighted<PaymentFact>(random, [
    [30, paid],
    [4, { ...paid, amount: price - 1 }],
    [2, { ...paid, currency: 'EUR' }],
    [5, { kind: 'pending' }],
    [2, { kind: 'unpaid' }],
    [3, { kind: 'failed' }],
    [2, { kind: 'expired' }],
    [2, { kind: 'canceled' }],
    [2, { kind: 'nothing' }],
    [2, { kind: 'unreadable', field: 'amount' }],
    [14, { kind: 'refunded-in-total', amount: pick(random, [0, part, price, price]), currency }],
    [
      18,
      {
        kind: 'refund',
        refund_id: pick(random, ['r1', 'r2', 'r3']),
        // A failed refund after a succeeded one takes the refund back.
        // A reversal and a refund with one id are one loss.
        status: pick(random, ['pending', 'succeeded', 'succeeded', 'failed', 'reversed']),
        amount: pick(random, [part, price - part, price]),
        currency,
      },
    ],
    [
      12,
      {
        kind: 'dispute',
        dispute_id: pick(random, ['d1', 'd2']),
        status: pick(random, ['open', 'won', 'lost']),
        ...pick(random, [{}, { amount: part, currency }, { amount: price, currency }]),
      },
    ],
  ]);
}

function pickWeighted<Item>(random: Random, items: readonly (readonly [number, Item])[]): Item {
  let rest = random() * items.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, item] of items) {
    rest -= weight;
    if (rest < 0) return item;
  }
  throw new Error('there is nothing to pick from');
}

export function shuffled<Item>(random: Random, items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
