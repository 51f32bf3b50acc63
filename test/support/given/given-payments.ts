import { orderNumber, reportKeyOf, reportName } from '../../../src/areas/payments/domain/payment.js';
import type { RecordRequest } from '../../../src/areas/payments/commands/deciding/requests.js';
import type { ResolvePaymentInput } from '../../../src/areas/payments/commands/deciding/resolving.js';
import { orderAggregate } from '../../../src/areas/payments/domain/order/order.js';
import { whyPending } from '../../../src/areas/payments/domain/transaction/fold.js';
import { transactionAggregate } from '../../../src/areas/payments/domain/transaction/transaction.js';
import type { PaymentFact } from '../../../src/areas/payments/domain/fact.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { applyReports } from '../../../src/areas/payments/commands/callbacks/reports.js';
import { givenCommands } from './given-commands.js';
import { givenContext, givenStores, type GivenStores } from './given-stores.js';
import { placeOrderAs, seenOrder } from './an-order.js';
import { forwardedKey } from './forwarded-key.js';
import { outcomeOfReport } from './report-outcome.js';
import { serveReaction } from './serve-reaction.js';
import { makeTestPaymentProvider, signed, type TestMessage } from '../fakes/test-payment-provider.js';

const at = new Date('2026-01-02T03:04:05.000Z');
export const orderIds = [
  '019b7d00-0000-7000-8000-00000000a001',
  '019b7d00-0000-7000-8000-00000000a002',
] as const;
export const numbers = [orderNumber(orderIds[0]), orderNumber(orderIds[1])] as const;
export const paid = (amount = 999, currency = 'USD'): PaymentFact => ({ kind: 'paid', amount, currency });
export const refunded = (amount = 999, currency = 'USD'): PaymentFact => ({
  ...({ kind: 'refund', refund_id: 'r1', status: 'succeeded' } as const),
  ...{ amount, currency },
});

/** Makes one notification about an order (by number), a transaction, or both. */
export const told = (
  fact: PaymentFact,
  { number = null, transaction = 't1' }: { number?: string | null; transaction?: string | null } = {},
): TestMessage['told'][number] => ({ fact, number, transaction });

/** Makes two orders of 999 USD with `standard`, and the actions of platforms and operators. */
export async function givenPayments({ wrap }: { readonly wrap?: (store: EventStore) => EventStore } = {}) {
  const stores = await givenStores({ ...(wrap === undefined ? {} : { wrap }), mayLag: true });
  const platform = makeTestPaymentProvider();
  const paymentProviders = new Map([
    ['standard', platform],
    ['alipay', platform],
  ] as const);
  let commands = 0;
  const context = (actor?: string) => givenContext((commands += 1), at, actor);
  const processOf = (of: GivenStores) => {
    const world = givenCommands(of, { paymentProviders });
    return {
      world,
      send: async (message: TestMessage, name: 'standard' | 'alipay' = 'standard') => {
        const callback = { method: 'POST', query: '', receivedAt: at, ...signed(message) } as const;
        return (await world.receivePaymentCallback({ name, callback, client: '192.0.2.1' }, context())).kind;
      },
      resolve: (input: Partial<ResolvePaymentInput> & Pick<ResolvePaymentInput, 'id' | 'action'>) =>
        world.resolvePayment({ order_id: null, note: 'asked the buyer', ...input }, context('op')),
      record: (input: Omit<RecordRequest, 'reason' | 'evidence'>) =>
        world.recordPayment(
          { reason: 'the platform sent nothing', evidence: 'its statement', ...input },
          context('op'),
        ),
      /** Runs the reaction on all events from `from` on that it has to handle. */
      react: (from = 0) => serveReaction(applyReports(world.paymentReports), of, { from }),
    };
  };
  for (const id of orderIds) {
    await placeOrderAs(stores, id, context(), { plan_id: 'p' });
  }
  const reportOf = async (key: string) => {
    const { events } = await stores.eventStore.readAll({ after: null, limit: 10_000 });
    const found = events.find(({ type, data }) => type === 'PaymentReported' && data['key'] === key);
    if (found === undefined) throw new Error(`there is no report ${key}`);
    return { stream: found.stream.slice('transaction-'.length), revision: Number(found.revision) };
  };
  return {
    stores,
    ...processOf(stores),
    another: () => processOf(stores.anotherProcess()),
    callback: async (key: string, provider: 'standard' | 'alipay' = 'standard') => {
      const [name = '', index] = key.split('.');
      const id = reportKeyOf(provider, name);
      const { stream, revision } = await reportOf(index === undefined ? id : forwardedKey(id, Number(index)));
      const { state } = await stores.handler.load(transactionAggregate, stream);
      const report = state.reports.find((one) => one.revision === revision);
      if (report === undefined) throw new Error(`there is no report ${key}`);
      const outcome = await outcomeOfReport(stores.handler, stream, revision);
      return { held: whyPending(state, report), ...outcome, action: report.decision?.action ?? null };
    },
    /** Returns the id of the report of a callback, or of one notification of a callback with several. */
    idOf: async (
      key: string,
      { provider = 'standard', index }: { provider?: 'standard' | 'alipay'; index?: number } = {},
    ) => {
      const id = reportKeyOf(provider, key);
      const { stream, revision } = await reportOf(index === undefined ? id : forwardedKey(id, index));
      return reportName(stream, revision);
    },
    order: async (n: 0 | 1 = 0) => {
      const { state } = await stores.handler.load(orderAggregate, orderIds[n]);
      return seenOrder(state);
    },
    events: async () => (await stores.eventStore.readAll({ after: null, limit: 10_000 })).events,
  };
}
