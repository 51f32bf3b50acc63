import test from 'ava';
import { feedTwice } from '../support/simulation/feed-twice.js';

/* DEEP_SEED=<printed> repeats the histories; DEEP_BUDGET multiplies them. */
const seed = Number(process.env['DEEP_SEED'] ?? '1');
const histories = Math.ceil(20 * Number(process.env['DEEP_BUDGET'] ?? '1'));

test.serial('Two processes that feed one endpoint at once lose nothing in any history', async (t) => {
  t.timeout(30 * 60_000);
  for (let n = 0; n < histories; n += 1) {
    t.log(`DEEP_SEED=${seed + n}`);
    await feedTwice(t, seed + n);
  }
  t.pass();
});
