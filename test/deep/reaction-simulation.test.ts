import test from 'ava';
import { simulateReactions } from '../support/simulation/kernel/simulate-reactions.js';

/*
 * Two or three processes run the same reactions while stores fail, effects get lost or never end, and processes are
 * paused, killed and started again. Every request ends with exactly one outcome or expires, and an effect is repeated
 * only after a failure. DEEP_SEED=<printed> and DEEP_HISTORY=<named in the failure> replay one history. DEEP_BUDGET
 * multiplies the number of histories.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];

test('Each request to a reaction ends with one outcome under all faults', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const histories = only === undefined ? Math.ceil(1_000 * budget) : 1;
  const sum = { asked: 0, sent: 0, repeated: 0, expired: 0 };
  for (let n = 0; n < histories; n += 1) {
    const history = only === undefined ? (seed + n * 7_919) % 2 ** 31 : Number(only);
    const { problem, asked, sent, repeated, expired } = await simulateReactions(history);
    sum.asked += asked;
    sum.sent += sent;
    sum.repeated += repeated;
    sum.expired += expired;
    if (problem !== null) {
      t.fail(`${problem}: repeat with DEEP_SEED=${seed} DEEP_HISTORY=${history}`);
      return;
    }
  }
  t.log(`${histories} histories: ${JSON.stringify(sum)}`);
  t.true(only !== undefined || (sum.sent > histories * 5 && sum.repeated > histories / 10));
});
