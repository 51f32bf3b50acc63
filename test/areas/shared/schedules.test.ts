import test from 'ava';
import { runEmailChangeSchedule } from '../../deep/email-change-schedules.js';
import { runSchedule as runSessionSchedule } from '../../deep/session-schedules.js';

// A few schedules of each kind. The long campaigns, and the proofs that they find faults, are in `test/deep`.

for (const [what, run, schedules, met] of [
  [
    'An address belongs to one user through all changes',
    runEmailChangeSchedule,
    100,
    ['change confirmed', 'reaction finish-email-change', 'crash after an append'],
  ],
  [
    'The end of sessions prevails over concurrent refreshes, sign-ins and password changes',
    runSessionSchedule,
    20,
    ['refresh passed', 'refused after an ending', 'password passed', 'late write'],
  ],
] as const) {
  test(`${what}, in ${schedules} schedules`, async (t) => {
    const tally = new Map<string, number>();
    for (let seed = 1; seed <= schedules; seed += 1) {
      const problem = await run(seed, { tally });
      if (problem !== null) return t.fail(`seed ${seed}: ${problem}`);
    }
    for (const part of met) t.true((tally.get(part) ?? 0) > 0, `the schedules never met: ${part}`);
    return undefined;
  });
}

test('A change back to an address that a revert puts back at the same time is refused', async (t) => {
  // In this schedule the change was once confirmed, although the revert had ended it.
  t.is(await runEmailChangeSchedule(1_858_930_742, { tally: new Map() }), null);
});
