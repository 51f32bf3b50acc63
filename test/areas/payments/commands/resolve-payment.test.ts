import test from 'ava';
import { erased } from '../../../../src/keys/sealing/sealer.js';
import { sealedSchema } from '../../../../src/event-sourcing/ports/events.js';
import { userId } from '../../../support/examples/ids.js';
import {
  givenPayments,
  numbers,
  orderIds,
  paid,
  refunded,
  told,
} from '../../../support/given/given-payments.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const apply = { action: 'apply', order_id: orderIds[0] } as const;
const dismiss = { action: 'dismiss' } as const;
const unknown = { number: 'NOT-OURS' };

test('A payment without an order of ours is applied to an order, and the decision of the operator is its first event', async (t) => {
  const { send, idOf, resolve, callback, order, events } = await givenPayments();
  await send({ key: 'm1', told: [told(paid(), unknown)] });
  await send({ key: 'm2', told: [told(refunded(300))] });
  t.like(await callback('m1'), { held: 'unknown_order' });
  t.like(await callback('m2'), { held: 'unlinked_transaction' });
  const before = (await events()).length;
  t.deepEqual(await resolve({ id: await idOf('m1'), ...apply }), {
    ...{ id: await idOf('m1'), action: 'apply', order_id: orderIds[0], disposition: 'applied' },
  });
  const written = (await events()).slice(before);
  t.deepEqual(
    written.map(({ type, metadata }) => [type, metadata.actor]),
    [
      'PaymentReportResolved',
      'PaymentCaptured',
      // This waited for the transaction.
      'RefundReported',
    ].map((type) => [type, 'op']),
  );
  t.deepEqual(await order(), { status: 'partially_refunded', refunded: 300, due: true });
  // A repetition of the same decision changes nothing.
  t.like(await resolve({ id: await idOf('m1'), ...apply }), {
    order_id: orderIds[0],
    disposition: 'applied',
  });
  t.is((await events()).length, before + written.length);
  for (const other of [{ ...apply, order_id: orderIds[1] }, dismiss, { ...apply, note: 'another reason' }]) {
    t.is(await outcomeOf(resolve({ id: await idOf('m1'), ...other })), 'payment_callback_resolved');
  }
});

test('A dismissed callback changes nothing, also when its transaction is linked later', async (t) => {
  const { send, idOf, resolve, callback, order } = await givenPayments();
  await send({ key: 'm1', told: [told(refunded())] });
  t.like(await resolve({ id: await idOf('m1'), ...dismiss }), { order_id: null, disposition: 'ignored' });
  await send({ key: 'm2', told: [told(paid(), { number: numbers[0] })] });
  await send({ key: 'm1', told: [told(refunded())] });
  t.like(await order(), { status: 'paid', refunded: 0, due: true });
  t.like(await callback('m1'), { held: null, disposition: 'ignored' });
});

test('An applied payment with another amount, currency or account still needs a review', async (t) => {
  const wrong = [
    { key: 'm1', told: [told(paid(998), unknown)] },
    { key: 'm2', told: [told(paid(999, 'JPY'), unknown)] },
    { key: 'm3', told: [told(paid(), unknown)], isOurs: false },
  ];
  for (const message of wrong) {
    const { send, idOf, resolve, order, callback } = await givenPayments();
    await send(message);
    const outcome = await resolve({ id: await idOf(message.key), ...apply });
    t.like(outcome, { disposition: 'mismatch', order_id: orderIds[0] });
    t.like(await callback(message.key), { disposition: 'mismatch', held: null });
    t.like(await order(), { status: 'review', due: false });
    // The operator applies it in review by the name of its notification.
    const { id } = outcome;
    t.like(await resolve({ id: `${id}.0`, action: 'apply' }), {
      ...{ id: `${id}.0`, order_id: orderIds[0], disposition: 'applied' },
    });
    t.like(await order(), { status: 'paid', due: true });
  }
});

test('A payment in review is applied once, and then reports that name only its transaction reach the order', async (t) => {
  const { send, idOf, resolve, order, events } = await givenPayments();
  await send({ key: 'm1', told: [told(paid(500, 'EUR'), { number: numbers[0] })] });
  const id = `${await idOf('m1')}.0`;
  t.like(await order(), { status: 'review' });
  await send({ key: 'm2', told: [told(refunded(100, 'EUR'))] });
  t.like(await resolve({ id, action: 'apply' }), { order_id: orderIds[0], disposition: 'applied' });
  t.like(await order(), { status: 'partially_refunded', refunded: 200, due: true });
  const { length } = await events();
  t.like(await resolve({ id, action: 'apply' }), { order_id: orderIds[0], disposition: 'applied' });
  t.is((await events()).length, length);
  // A part was refunded, which is another question under this name. The payment stays applied.
  t.like(await resolve({ id, action: 'dismiss' }), { disposition: 'ignored' });
  t.like(await order(), { status: 'partially_refunded', refunded: 200, due: true });
  await send({ key: 'm3', told: [told({ kind: 'refunded-in-total', amount: 500, currency: 'EUR' })] });
  t.deepEqual(await order(), { status: 'refunded', refunded: 999, due: false });
});

test('A payment through another platform is applied with its other reports, and its refunds count', async (t) => {
  const { send, idOf, resolve, order, callback } = await givenPayments();
  await send({ key: 'm1', told: [told(paid(6_900, 'CNY'), { number: numbers[0] })] }, 'alipay');
  await send({ key: 'm2', told: [told(refunded(2_300, 'CNY'))] }, 'alipay');
  t.like(await order(), { status: 'review' });
  t.like(await callback('m2', 'alipay'), { held: null, disposition: 'mismatch' });
  await resolve({ id: `${await idOf('m1', { provider: 'alipay' })}.0`, action: 'apply' });
  t.deepEqual(await order(), { status: 'partially_refunded', refunded: 333, due: true });
  const dispute = { kind: 'dispute', dispute_id: 'd1', status: 'lost' } as const;
  await send({ key: 'm3', told: [told(dispute)] }, 'alipay');
  t.like(await order(), { status: 'disputed', due: false });
});

test('A transaction that pays another order is not applied', async (t) => {
  const { send, idOf, resolve, order } = await givenPayments();
  await send({ key: 'm1', told: [told(paid(), { number: numbers[1] })] });
  await send({ key: 'm2', told: [told(paid(), { number: numbers[0] })] });
  const id = `${await idOf('m2')}.0`;
  t.is(await outcomeOf(resolve({ id, action: 'apply' })), 'review_not_applicable');
  t.like(await order(), { status: 'review', due: false });
  await resolve({ id, action: 'dismiss' });
  t.like(await order(), { status: 'created', due: false });
});

test('An unreadable notification is dismissed, and the rest of its callback is applied', async (t) => {
  const { send, idOf, resolve, order } = await givenPayments();
  const unreadable = told({ kind: 'unreadable', field: 'amount' }, { number: numbers[0] });
  await send({ key: 'm1', told: [unreadable] });
  const id = await idOf('m1');
  t.is(await outcomeOf(resolve({ id, ...apply })), 'payment_callback_unreadable');
  t.like(await resolve({ id, ...dismiss }), { disposition: 'ignored' });
  await send({ key: 'm2', told: [unreadable, told(paid(), { ...unknown, transaction: 't2' })] });
  t.like(await resolve({ id: await idOf('m2', { index: 1 }), ...apply }), { disposition: 'applied' });
  t.like(await resolve({ id: await idOf('m2', { index: 0 }), ...dismiss }), { disposition: 'ignored' });
  t.like(await order(), { status: 'paid' });
});

test('The note is sealed with the key of the buyer, or with its own key where there is no buyer', async (t) => {
  const { send, idOf, resolve, events, stores } = await givenPayments();
  for (const key of ['m1', 'm2', 'm3'])
    await send({ key, told: [told(paid(), { ...unknown, transaction: key })] });
  await resolve({ id: await idOf('m1'), ...apply, note: 'Ada paid twice' });
  await resolve({ id: await idOf('m2'), ...dismiss, note: 'of another shop' });
  const notes = async () =>
    (await events())
      .filter(({ type }) => type === 'PaymentReportResolved')
      .map(({ data }) => ({ note: sealedSchema.parse(data['note']), of: data['note_of'] }));
  const [first, second] = await notes();
  if (first === undefined || second === undefined) return t.fail();
  t.deepEqual([first.of, second.of], [userId, null]);
  const person = { kind: 'person', userId } as const;
  const field = `payment-note/${await idOf('m1')}`;
  t.is(await stores.sealer.open(person, field, first.note), 'Ada paid twice');
  const own = { kind: 'payment-note', paymentId: await idOf('m2') } as const;
  t.is(await stores.sealer.open(own, 'note', second.note), 'of another shop');
  // The note on an erased buyer does not open, and operators still decide on payments.
  await stores.sealer.destroy(person);
  t.is(await stores.sealer.open(person, field, first.note), erased);
  t.like(await resolve({ id: await idOf('m3'), ...apply, order_id: orderIds[1] }), {
    disposition: 'applied',
  });
  t.is((await notes())[2]?.of, null);
  t.notRegex(JSON.stringify((await events()).map(({ data }) => data)), /Ada|shop|asked/);
});
