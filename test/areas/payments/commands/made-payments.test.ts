import test from 'ava';
import {
  isAnotherPayment,
  makeMadePayments,
} from '../../../../src/areas/payments/commands/callbacks/made-payments.js';
import { checkoutAggregate } from '../../../../src/areas/payments/domain/checkout/checkout.js';
import type { PaymentNotification } from '../../../../src/areas/payments/domain/fact.js';
import type { TransactionReport } from '../../../../src/areas/payments/domain/transaction/fold.js';
import type { CommandHandler } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { digest, orderId } from '../../../support/examples/ids.js';
import { makeTestPaymentMaker } from '../../../support/fakes/test-payment-maker.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { aPayment } from '../../../support/given/an-order.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const maker = makeTestPaymentMaker({ now: () => at });
const withMaker = new Map([['standard', maker]] as const);

const told = (
  reference: string | null,
  fact: PaymentNotification['fact'] = { kind: 'paid', amount: 999, currency: 'USD' },
): PaymentNotification => ({
  ...{ order_number: 'N1', transaction_id: 't1', fact, at: null },
  ...(reference === null ? {} : { reference }),
});
const reportOf = (one: PaymentNotification, report: Partial<TransactionReport> = {}): TransactionReport => ({
  ...{ key: 'k1', digest, is_ours: true, notifications: [one], order_id: orderId },
  ...{ received_at: at.toISOString(), revision: 0, held: null, decision: null, ...report },
});

/** Two processes over one log, which count the reads of the first one, and the record of a payment. */
async function givenProcesses() {
  const stores = await givenStores({ mayLag: true });
  const loads: string[] = [];
  const counted: CommandHandler = {
    ...stores.handler,
    load: (aggregate, id, load = 'latest') => {
      loads.push(load);
      return stores.handler.load(aggregate, id, load);
    },
  };
  let commands = 0;
  const record = (handler: CommandHandler, reference: string) =>
    handler.handle(
      { aggregate: checkoutAggregate, id: orderId },
      {
        ...({ type: 'RecordPayment', now: at } as const),
        payment: aPayment({ reference }),
      },
      givenContext((commands += 1), at),
    );
  const isAnother = async (
    one: PaymentNotification,
    others: readonly TransactionReport[] = [],
    paymentMakers = withMaker,
  ) => {
    const reports = [...others, reportOf(one)];
    const due = { orderId, isOther: false, reports: reports.slice(-1) };
    const made = await makeMadePayments({ handler: counted, paymentMakers })('standard', due, reports);
    return isAnotherPayment(one, 'standard', made, reports);
  };
  return { own: stores.handler, other: stores.anotherProcess().handler, loads, record, isAnother };
}

test('A payment of another name than the made ones is another payment, and without made ones none is', async (t) => {
  const { own, record, isAnother } = await givenProcesses();
  t.false(await isAnother(told('made-1')));
  await record(own, 'made-1');
  t.false(await isAnother(told('made-1')));
  t.true(await isAnother(told('made-2')));
  t.false(await isAnother(told(null)));
  t.false(await isAnother(told('made-2', { kind: 'failed' })));
});

test('A payment that another process made meanwhile is no other payment', async (t) => {
  const { own, other, record, isAnother } = await givenProcesses();
  await record(own, 'made-1');
  t.false(await isAnother(told('made-1')));
  await record(other, 'made-2');
  t.false(await isAnother(told('made-2')));
  t.false(await isAnother(told('made-1')));
});

test('A payment that this process made, a report without a name and a platform without credentials cost no read', async (t) => {
  const { own, record, isAnother, loads } = await givenProcesses();
  await record(own, 'made-1');
  await isAnother(told('made-1'));
  t.deepEqual(loads, ['remembered']);
  await isAnother(told(null));
  t.false(await isAnother(told('made-2'), [], new Map()));
  t.deepEqual(loads, ['remembered']);
});

test('A payment without a name is judged by the names that the other reports of its transaction have', async (t) => {
  const { own, record, isAnother } = await givenProcesses();
  const foreign = reportOf(told('made-2'));
  t.false(await isAnother(told(null), [foreign]), 'nothing was made');
  await record(own, 'made-1');
  t.true(await isAnother(told(null), [foreign]));
  const decision = { action: 'dismiss', order_id: null, note_digest: digest } as const;
  t.true(await isAnother(told(null), [reportOf(told('made-2'), { decision })]), 'dismissed');
  t.false(await isAnother(told(null), [foreign, reportOf(told('made-1'))]), 'one of them was made');
  t.false(await isAnother(told(null), [reportOf(told('made-2'), { is_ours: false })]), 'another account');
  t.false(await isAnother(told(null), [reportOf(told('made-2', { kind: 'failed' }))]), 'not paid');
  t.false(await isAnother(told(null, { kind: 'failed' }), [foreign]));
});
