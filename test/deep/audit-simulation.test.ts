import test from 'ava';
import { simulateAudit } from '../support/audit/simulate-audit.js';

/*
 * One, two or four processes sequence and sign one growing log while they are killed between any two calls and read models
 * are deleted. No two checkpoints contradict each other or the log. DEEP_SEED=<printed> and DEEP_HISTORY=<named in the
 * failure> replay one history; the machine's timing differs. DEEP_BUDGET multiplies the number of histories.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const only = process.env['DEEP_HISTORY'];

test('No two checkpoints contradict each other while processes are killed', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const histories = only === undefined ? Math.ceil(30 * budget) : 1;
  const sum = { events: 0, kills: 0, checkpoints: 0 };
  for (let n = 0; n < histories; n += 1) {
    const history = only === undefined ? (seed + n * 7_919) % 2 ** 31 : Number(only);
    const { problems, events, kills, checkpoints } = await simulateAudit(history);
    sum.events += events;
    sum.kills += kills;
    sum.checkpoints += checkpoints;
    if (problems.length > 0) {
      t.fail(`${problems.join('; ')}: repeat with DEEP_SEED=${seed} DEEP_HISTORY=${history}`);
      return;
    }
  }
  t.log(`${histories} histories: ${JSON.stringify(sum)}`);
  t.true(only !== undefined || (sum.kills > histories && sum.checkpoints > histories * 3));
});
