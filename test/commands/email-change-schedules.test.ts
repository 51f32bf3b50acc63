import test from 'ava';
import { runEmailChangeSchedule } from '../deep/email-change-schedules.js';

// The long campaign, and the proof that it finds mistakes, is in test/deep.
test('An address belongs to one user, however it changes hands: 150 schedules', async (t) => {
  const tally = new Map<string, number>();
  for (let seed = 1; seed <= 150; seed += 1) {
    const problem = await runEmailChangeSchedule(seed, { tally });
    if (problem !== null) return t.fail(`seed ${String(seed)}: ${problem}`);
  }
  for (const what of ['change confirmed', 'reaction finish-email-change', 'crash after an append']) {
    t.true((tally.get(what) ?? 0) > 5, what);
  }
});
