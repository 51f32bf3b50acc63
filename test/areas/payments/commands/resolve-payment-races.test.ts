import test from 'ava';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { problemsOfLog } from '../../../support/simulation/reactions/payment-invariants.js';
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

/** Returns hooks that run once, right before the store reads or appends to a stream of their category. */
function makeHooks() {
  const hooks: { readonly at: 'read' | 'append'; readonly category: string; run(): void | Promise<void> }[] =
    [];
  const run = async (at: 'read' | 'append', stream: string): Promise<void> => {
    const index = hooks.findIndex((hook) => hook.at === at && stream.startsWith(`${hook.category}-`));
    const [hook] = index < 0 ? [] : hooks.splice(index, 1);
    await hook?.run();
  };
  return {
    before: (at: 'read' | 'append', category: string, work: () => void | Promise<void>): void => {
      hooks.push({ at, category, run: work });
    },
    left: () => hooks.length,
    wrap: (store: EventStore): EventStore => ({
      ...store,
      read: async (stream, ...rest) => {
        await run('read', stream);
        return store.read(stream, ...rest);
      },
      append: async (stream, ...rest) => {
        await run('append', stream);
        return store.append(stream, ...rest);
      },
    }),
  };
}

/** Makes a store that stops the process at its nth append from now on, before or after the append is written. */
function makeCut() {
  const cut = { left: Infinity, isWritten: false };
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    append: async (...args) => {
      cut.left -= 1;
      if (cut.left > 0) return store.append(...args);
      if (cut.isWritten && cut.left === 0) await store.append(...args);
      throw new Error('the process stopped');
    },
  });
  return { cut, wrap };
}

test('A decision that is cut off at any append takes effect completely, or was not made', async (t) => {
  for (const input of [apply, dismiss]) {
    const ends = new Set<string>();
    for (const isWritten of [false, true]) {
      for (let step = 1, wasCut = true; wasCut; step += 1) {
        const { cut, wrap } = makeCut();
        cut.isWritten = isWritten;
        const { send, idOf, another, callback, order, events } = await givenPayments({ wrap });
        await send({ key: 'm1', told: [told(paid(), unknown)] });
        await send({ key: 'm2', told: [told(refunded(300))] });
        cut.left = step;
        wasCut = (await outcomeOf(another().resolve({ id: await idOf('m1'), ...input }))) !== 'passed';
        cut.left = Infinity;
        const isDecided = (await callback('m1')).action !== null;
        await another().react();
        const { held, disposition } = await callback('m1');
        if (!isDecided) t.deepEqual([held, disposition], ['unknown_order', null]);
        // The operator repeats the command.
        await another().resolve({ id: await idOf('m1'), ...input });
        t.deepEqual(problemsOfLog(await events()), []);
        const [first, second] = [await callback('m1'), await callback('m2')];
        if (isDecided) t.is(disposition, first.disposition, `cut off at append ${step}`);
        ends.add(JSON.stringify([first, second, await order()]));
      }
    }
    t.is(ends.size, 1, [...ends].join('\n'));
  }
});

test('A decision on a review that is cut off at any append can be repeated', async (t) => {
  const ends = new Set<string>();
  for (let step = 1, wasCut = true; wasCut; step += 1) {
    const { cut, wrap } = makeCut();
    const { send, idOf, another, callback, order, events } = await givenPayments({ wrap });
    await send({ key: 'm1', isOurs: false, told: [told(paid(), { number: numbers[0] })] });
    await send({ key: 'm2', isOurs: false, told: [told(refunded(300))] });
    cut.left = step;
    const id = `${await idOf('m1')}.0`;
    wasCut = (await outcomeOf(another().resolve({ id, action: 'apply' }))) !== 'passed';
    cut.left = Infinity;
    await another().react();
    await another().resolve({ id, action: 'apply' });
    t.deepEqual(problemsOfLog(await events()), []);
    t.deepEqual(await order(), { status: 'partially_refunded', refunded: 300, due: true }, `${step}`);
    ends.add(JSON.stringify([await callback('m1'), await callback('m2')]));
  }
  t.is(ends.size, 1, [...ends].join('\n'));
});

test('One of several concurrent operators decides, and another with the same decision gets the same answer', async (t) => {
  for (const where of ['held', 'review'] as const) {
    const { send, idOf, another, order, events } = await givenPayments();
    const isHeld = where === 'held';
    await send({ key: 'm1', told: [told(paid(998), isHeld ? unknown : { number: numbers[0] })] });
    const id = isHeld ? await idOf('m1') : `${await idOf('m1')}.0`;
    const inputs = [apply, dismiss, apply, { ...apply, note: 'another reason' }, dismiss] as const;
    const outcomes = await Promise.all(inputs.map((input) => outcomeOf(another().resolve({ id, ...input }))));
    const refusal = isHeld ? 'payment_callback_resolved' : 'review_resolved';
    const won = outcomes.indexOf('passed');
    t.deepEqual(
      outcomes,
      inputs.map((input) => (input === inputs[won] ? 'passed' : refusal)),
    );
    const types = (await events()).map(({ type }) => type);
    t.is(types.filter((type) => /Resolved/.test(type)).length, 1);
    t.deepEqual(problemsOfLog(await events()), []);
    const ended = inputs[won] === dismiss ? 'created' : isHeld ? 'review' : 'paid';
    t.is((await order()).status, ended);
  }
});

test('A link that comes before the decision stands, and the decision is refused', async (t) => {
  for (const input of [apply, dismiss]) {
    const hooks = makeHooks();
    const { send, idOf, another, callback, order, events } = await givenPayments({ wrap: hooks.wrap });
    await send({ key: 'm1', told: [told(refunded(300))] });
    const id = await idOf('m1');
    // Right before the decision is appended, the transaction pays the other order.
    hooks.before('append', 'transaction', async () => {
      await another().send({ key: 'm2', told: [told(paid(), { number: numbers[1] })] });
    });
    t.is(await outcomeOf(another().resolve({ id, ...input })), 'payment_callback_not_held');
    t.is(hooks.left(), 0);
    t.deepEqual(await order(1), { status: 'partially_refunded', refunded: 300, due: true });
    t.deepEqual(await order(0), { status: 'created', refunded: 0, due: false });
    t.like(await callback('m1'), { action: null, disposition: 'applied', orderId: orderIds[1] });
    t.deepEqual(problemsOfLog(await events()), []);
  }
});

test('A payment that is accepted during a decision follows the decision', async (t) => {
  for (const input of [apply, dismiss]) {
    const hooks = makeHooks();
    const { send, idOf, another, callback, order, events } = await givenPayments({ wrap: hooks.wrap });
    await send({ key: 'm1', told: [told(refunded(300))] });
    const id = await idOf('m1');
    // Right before the payment is appended, the operator decides.
    hooks.before('append', 'transaction', async () => {
      await another().resolve({ id, ...input });
    });
    await another().send({ key: 'm2', told: [told(paid(), { number: numbers[1] })] });
    t.is(hooks.left(), 0);
    const ignored = input === dismiss;
    t.like(await callback('m1'), { held: null, disposition: ignored ? 'ignored' : 'applied' });
    // The decision linked the transaction, or left it free for another payment.
    t.deepEqual(await order(1), { status: ignored ? 'paid' : 'review', refunded: 0, due: ignored });
    t.deepEqual(problemsOfLog(await events()), []);
  }
});

test('A report whose link came is not decided on, and the reaction tells it', async (t) => {
  const { cut, wrap } = makeCut();
  const { send, idOf, another, callback } = await givenPayments({ wrap });
  await send({ key: 'm1', told: [told(refunded(300))] });
  const id = await idOf('m1');
  // The first append conflicts with m1, the second one links the transaction, and the process stops at the third one.
  cut.left = 3;
  await another().send({ key: 'm2', told: [told(paid(), { number: numbers[1] })] });
  cut.left = Infinity;
  t.like(await callback('m1'), { held: null, disposition: null });
  for (const input of [apply, dismiss]) {
    t.is(await outcomeOf(another().resolve({ id, ...input })), 'payment_callback_not_held');
  }
  await another().react();
  t.like(await callback('m1'), { action: null, disposition: 'applied', orderId: orderIds[1] });
});
