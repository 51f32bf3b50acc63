import { isDeepStrictEqual } from 'node:util';
import { callbackIdOf } from '../../../src/commands/payment-ids.js';
import { isDue, orderAggregate, orderStatus, refundedAmount } from '../../../src/domain/order/order.js';
import { orderNumber } from '../../../src/domain/order/number.js';
import { paymentCallbackAggregate } from '../../../src/domain/payment-callback/payment-callback.js';
import type { RecordedFact } from '../../../src/domain/payment.js';
import { userAggregate } from '../../../src/domain/user/user.js';
import type { LogEvent } from '../../../src/event-sourcing/domain-event.js';
import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import { type AnyReaction, contextFor, eventFor } from '../../../src/event-sourcing/reaction.js';
import { makeFulfilOrders } from '../../../src/reactions/fulfil-orders.js';
import { makeSettlePayments } from '../../../src/reactions/settle-payments.js';
import { appendEvents } from '../../support/append-events.js';
import { makeSeededRandom } from '../../support/clock.js';
import { userId } from '../../support/examples/ids.js';
import { capacityGranted, userRegistered } from '../../support/examples/user.js';
import { givenCommands } from '../../support/given-commands.js';
import { givenContext, givenStores } from '../../support/given-stores.js';
import { makeTestPaymentProvider, signed, type TestMessage } from '../../support/test-payment-provider.js';
import { problemsOfLog } from './payment-invariants.js';

/** How a history ended. */
export interface Told {
  /** Null when all is as it must be. */
  readonly problem: string | null;
  readonly orders: readonly {
    readonly status: string;
    readonly refunded: number;
    readonly isGranted: boolean;
  }[];
  readonly crashes: number;
  readonly held: readonly string[];
}

/** The process stopped here; what it was at is tried again by the next. */
class Crash extends Error {}

/** A reaction in a process. */
interface Follower {
  readonly reaction: AnyReaction;
  readonly settled: Set<string>;
}

const at = new Date('2026-01-02T03:04:05.000Z');
const provider = makeTestPaymentProvider();
/** Two orders of one buyer; each transaction is always its own order's. */
export const orderIds = [
  '019b7d00-0000-7000-8000-00000000a001',
  '019b7d00-0000-7000-8000-00000000a002',
] as const;
const transactions = [['t1', 't2'], ['t3']] as const;

/** Messages of a platform about the two orders, drawn from the seed. */
export function drawMessages(seed: number, count: number): readonly TestMessage[] {
  const random = makeSeededRandom(seed);
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[Math.floor(random() * items.length)] ?? items[0];
  const paid: RecordedFact = { kind: 'paid', amount: 999, currency: 'USD' };
  const draw = (): TestMessage['told'][number] => {
    const order = random() < 0.75 ? 0 : 1;
    const transaction = pick(transactions[order]);
    const fact = pick<RecordedFact>([
      ...([paid, paid, paid, { kind: 'pending' }, { kind: 'failed' }, { kind: 'expired' }] as const),
      ...([{ kind: 'paid', amount: 998, currency: 'USD' }, { kind: 'nothing' }] as const),
      { kind: 'unreadable', field: 'amount' },
      { kind: 'refunded-in-total', amount: pick([0, 300, 999]), currency: 'USD' },
      {
        ...({
          kind: 'refund',
          amount: pick([300, 999]),
          currency: 'USD',
          refund_id: pick(['r1', 'r2']),
        } as const),
        status: pick(['pending', 'succeeded', 'failed']),
      },
      { kind: 'dispute', dispute_id: pick(['d1', 'd2']), status: pick(['open', 'won', 'lost']) },
    ]);
    const number = pick([orderNumber(orderIds[order]), orderNumber(orderIds[order]), null, 'NOT-OURS']);
    const minute = Math.floor(random() * 4);
    return { number, transaction, fact, at: new Date(Date.UTC(2026, 0, 2, 4, minute)).toISOString() };
  };
  return Array.from({ length: count }, (_, n) => ({
    key: `m${n}`,
    isOurs: random() > 0.05,
    told: random() < 0.8 ? [draw()] : [draw(), draw()],
  }));
}

/**
 * Delivers the messages in the order given, some more often than once and some at the same time, to two processes whose
 * steps crash before or after they have appended; what is not acknowledged comes again. Then all that reactions owe is done.
 */
export async function simulatePayments(
  messages: readonly TestMessage[],
  { seed, crashing: mayCrash = true }: { readonly seed: number; readonly crashing?: boolean },
): Promise<Told> {
  const random = makeSeededRandom(seed);
  let crashing = false;
  let crashes = 0;
  const stores = await givenStores({ wrap: withCrashes, mayLag: true });
  const paymentProviders = new Map([['standard', provider]] as const);
  const worlds = [stores, stores.anotherProcess()].map((process) =>
    givenCommands(process, { paymentProviders }),
  );
  const followers = worlds.flatMap((world) =>
    [makeSettlePayments(world), makeFulfilOrders(world)].map((reaction): Follower => ({
      reaction,
      settled: new Set(),
    })),
  );
  const { handler, eventStore } = stores;
  let commands = 0;
  const context = () => givenContext((commands += 1), at);

  await appendEvents(
    handler,
    { aggregate: userAggregate, id: userId },
    [userRegistered, capacityGranted],
    at,
  );
  for (const id of orderIds) {
    await handler.handle(
      { aggregate: orderAggregate, id },
      {
        ...({ type: 'Place', userId, projectId: null, planId: 'p', provider: 'standard' } as const),
        ...{ grant: { capacity_bytes: 5 }, amount: 999, currency: 'USD', expiresAt: at },
      },
      context(),
    );
  }

  crashing = mayCrash;
  const waiting = messages.flatMap((message) => (random() < 0.3 ? [message, message] : [message]));
  while (waiting.length > 0) {
    const some = waiting.splice(0, 1 + Math.floor(random() * 3));
    const reacting = random() < 0.3 ? react().catch(ignoreCrash) : Promise.resolve();
    const refused = await Promise.all(some.map(deliver));
    waiting.push(...refused.filter((message) => message !== null));
    await reacting;
  }
  crashing = false;
  await react();

  const { events } = await eventStore.readAll({ after: null, limit: 100_000 });
  const ended = await Promise.all(orderIds.map(lookAt));
  return {
    problem:
      [...problemsOfLog(events), ...ended.flatMap(({ problems }) => problems), ...(await unsettled())][0] ??
      null,
    orders: ended.map(({ status, refunded, isGranted }) => ({ status, refunded, isGranted })),
    crashes,
    held: await heldKeys(),
  };

  /** The message where the platform has to send it again. */
  async function deliver(message: TestMessage): Promise<TestMessage | null> {
    const world = worlds[random() < 0.5 ? 0 : 1];
    if (world === undefined) throw new Error('there are two');
    const callback = { method: 'POST', query: '', receivedAt: at, ...signed(message) } as const;
    try {
      const outcome = await world.receivePaymentCallback({ name: 'standard', callback }, context());
      return outcome.kind === 'acknowledged' ? null : message;
    } catch (error) {
      ignoreCrash(error);
      return message;
    }
  }

  /**
   * Both reactions in both processes at once, over what is in the log, until nothing more is written. As marks have it, an event
   * that is settled in a process is never looked at again there.
   */
  async function react(): Promise<void> {
    for (let head = null as string | null; head !== (await eventStore.head());) {
      head = await eventStore.head();
      const { events: all } = await eventStore.readAll({ after: null, limit: 100_000 });
      const ends = await Promise.allSettled(followers.map((follower) => serveAll(follower, all)));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    }
  }

  async function serveAll({ reaction, settled }: Follower, all: readonly LogEvent[]): Promise<void> {
    for (const stored of all) {
      const event = eventFor(reaction, stored);
      if (event === null || settled.has(event.id)) continue;
      if ((await reaction.asks(event)) === 'yes') {
        await reaction.conclude(event, contextFor(reaction, event), undefined);
      }
      settled.add(event.id);
    }
  }

  async function lookAt(orderId: string) {
    const { state } = await handler.load(orderAggregate, orderId);
    const { state: user } = await handler.load(userAggregate, userId);
    if (state.status === 'absent' || user.status !== 'registered') throw new Error('they were there');
    const due = isDue(state);
    return {
      status: orderStatus(state),
      refunded: refundedAmount(state),
      isGranted: state.isGranted,
      problems: [
        ...(state.isGranted === due ? [] : [`${orderId} is granted: ${state.isGranted}, due: ${due}`]),
        ...(user.capacity.has(orderId) === due ? [] : [`the capacity of ${orderId} is not as due: ${due}`]),
      ],
    };
  }

  async function stateOf({ key }: TestMessage) {
    const id = callbackIdOf('standard', key);
    return (await handler.load(paymentCallbackAggregate, id)).state;
  }

  async function unsettled(): Promise<readonly string[]> {
    const states = await Promise.all(messages.map(stateOf));
    return states.flatMap((state, n) =>
      state.status === 'received' && (state.disposition !== null) !== (state.held !== null)
        ? []
        : [`message ${n} has ended as nothing, or as two things`],
    );
  }

  async function heldKeys(): Promise<readonly string[]> {
    const states = await Promise.all(messages.map(stateOf));
    return messages
      .filter((_, n) => {
        const state = states[n];
        return state?.status === 'received' && state.held !== null;
      })
      .map(({ key }) => key)
      .sort();
  }

  function withCrashes(store: EventStore): EventStore {
    return {
      ...store,
      append: async (stream, expected, events, options) => {
        if (!crashing || random() > 0.15) return store.append(stream, expected, events, options);
        crashes += 1;
        if (random() < 0.5) await store.append(stream, expected, events, options);
        throw new Crash('the process stopped');
      },
    };
  }
}

function ignoreCrash(error: unknown): void {
  if (!(error instanceof Crash)) throw error;
}

/** Whether two histories of the same messages ended alike. */
export function endAlike(one: Told, other: Told): boolean {
  return isDeepStrictEqual([one.orders, one.held], [other.orders, other.held]);
}
