import test from 'ava';
import { drawMessages, endAlike, simulatePayments } from '../reactions/support/simulate-payments.js';
import { makeSeededRandom } from '../support/clock.js';

/*
 * Callbacks of payment platforms in any order, more often than once and at the same time, with crashes between any two steps of
 * two processes: see `simulatePayments`. DEEP_SEED=<printed> and DEEP_HISTORY=<named in the failure> replay one history;
 * DEEP_BUDGET multiplies how many there are (50: 100,000).
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];

test('whatever the order, however often and whatever crashes, the same messages end alike', async (t) => {
  t.timeout(60 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const histories = only === undefined ? Math.ceil(2_000 * budget) : 1;
  for (let n = 0; n < histories; n += 1) {
    const history = only === undefined ? (seed + n * 7_919) % 2 ** 31 : Number(only);
    const messages = drawMessages(history, 2 + (history % 9));
    const plain = await simulatePayments(messages, { seed: history, crashing: false });
    const random = makeSeededRandom(history);
    const shuffled = messages
      .map((message) => ({ message, place: random() }))
      .sort((one, other) => one.place - other.place)
      .map(({ message }) => message);
    const other = await simulatePayments(shuffled, { seed: history + 1 });
    const problem = plain.problem ?? other.problem ?? (endAlike(plain, other) ? null : 'the ends differ');
    if (problem !== null) {
      t.fail(`${problem}: repeat with DEEP_SEED=${seed} DEEP_HISTORY=${history}`);
      return;
    }
  }
  t.log(`${histories} histories`);
  t.pass();
});

test('every order of up to six messages ends alike', async (t) => {
  t.timeout(60 * 60_000 * Math.max(1, budget));
  const sets = Math.ceil(30 * budget);
  for (let n = 0; n < sets; n += 1) {
    const messages = drawMessages(seed + n, 3 + (n % 4));
    const plain = await simulatePayments(messages, { seed, crashing: false });
    for (const order of permutations(messages)) {
      const told = await simulatePayments(order, { seed: seed + n, crashing: false });
      if (told.problem === null && endAlike(plain, told)) continue;
      t.fail(`${told.problem ?? 'the ends differ'}: set ${n}, ${order.map(({ key }) => key).join(', ')}`);
      return;
    }
  }
  t.pass();
});

function* permutations<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  if (items.length === 0) yield [];
  for (const [index, item] of items.entries()) {
    for (const rest of permutations(items.toSpliced(index, 1))) yield [item, ...rest];
  }
}
