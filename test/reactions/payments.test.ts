import test from 'ava';
import { makeSeededRandom } from '../support/clock.js';
import { drawMessages, endAlike, simulatePayments } from './support/simulate-payments.js';

// A few histories of those that `test/deep` tries by the thousand.

test('whatever the order, however often and whatever crashes, the same messages end alike', async (t) => {
  const sum = { crashes: 0, granted: 0, held: 0, review: 0 };
  for (let seed = 1; seed <= 60; seed += 1) {
    const messages = drawMessages(seed, 2 + (seed % 8));
    const plain = await simulatePayments(messages, { seed, crashing: false });
    t.is(plain.problem, null, `seed ${seed}`);
    const random = makeSeededRandom(seed);
    const shuffled = messages
      .map((message) => ({ message, place: random() }))
      .sort((one, other) => one.place - other.place)
      .map(({ message }) => message);
    const other = await simulatePayments(shuffled, { seed: seed + 1_000 });
    t.is(other.problem, null, `seed ${seed}, shuffled`);
    t.true(endAlike(plain, other), `seed ${seed}: ${JSON.stringify([plain, other])}`);
    sum.crashes += other.crashes;
    sum.granted += plain.orders.filter(({ isGranted }) => isGranted).length;
    sum.review += plain.orders.filter(({ status }) => status === 'review').length;
    sum.held += plain.held.length;
  }
  t.log(JSON.stringify(sum));
  t.true(sum.crashes > 50 && sum.granted > 10 && sum.held > 10 && sum.review > 5);
});
