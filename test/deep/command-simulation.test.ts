import test from 'ava';
import { simulateCommands } from '../support/simulation/kernel/simulate-commands.js';

/*
 * Several processes race for the same streams while acknowledgements are lost and appends take effect late. The events
 * of every successful command are in the log exactly once and complete. DEEP_SEED=<printed> and DEEP_HISTORY=<named in
 * the failure> replay one history. DEEP_BUDGET multiplies the number of histories.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];

test('The events of every successful command are in the log exactly once and complete', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const histories = only === undefined ? Math.ceil(15_000 * budget) : 1;
  let commands = 0;
  for (let n = 0; n < histories; n += 1) {
    const history = only === undefined ? (seed + n * 7_919) % 2 ** 31 : Number(only);
    const { problem, done } = await simulateCommands(history);
    commands += done;
    if (problem !== null) {
      t.fail(`${problem}: repeat with DEEP_SEED=${seed} DEEP_HISTORY=${history}`);
      return;
    }
  }
  t.log(`${histories} histories, ${commands} commands carried out`);
  t.true(only !== undefined || commands > histories * 3);
});
