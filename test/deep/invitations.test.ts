import test from 'ava';
import { simulateInvitations } from '../support/simulation/reactions/simulate-invitations.js';

/*
 * Invitations, accounts, addresses and reactions in any order, with crashes: see `simulateInvitations`.
 * DEEP_SEED=<printed> and DEEP_HISTORY=<named in the failure> replay one history. DEEP_BUDGET multiplies the number of
 * histories.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];

test('Exactly the invited users who prove their address become members, in every order', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const histories = only === undefined ? Math.ceil(2_000 * budget) : 1;
  let sum = 0;
  for (let n = 0; n < histories; n += 1) {
    const history = only === undefined ? (seed + n * 7_919) % 2 ** 31 : Number(only);
    const { problem, accepted } = await simulateInvitations(history);
    sum += accepted;
    if (problem !== null) {
      t.fail(`${problem}: repeat with DEEP_SEED=${seed} DEEP_HISTORY=${history}`);
      return;
    }
  }
  t.log(`${histories} histories, ${sum} invitations accepted`);
  t.true(only !== undefined || sum > histories / 10);
});
