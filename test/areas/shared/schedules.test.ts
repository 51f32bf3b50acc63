import test from 'ava';
import { raceForKey } from '../../deep/object-key-races.js';
import { runEmailChangeSchedule } from '../../deep/email-change-schedules.js';
import { runSchedule as runSessionSchedule } from '../../deep/session-schedules.js';

// A few schedules of each kind. The long campaigns, and the proofs that they find faults, are in `test/deep`.

for (const [what, run, schedules, met] of [
  [
    'An address belongs to one user through all changes',
    runEmailChangeSchedule,
    // One of 13 meets the reaction.
    40,
    ['change confirmed', 'reaction finish-email-change', 'crash after an append'],
  ],
  [
    'The end of sessions prevails over concurrent refreshes, sign-ins and password changes',
    runSessionSchedule,
    8,
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

test('Two processes that race for a key give it to one asset of a storage, and no live asset loses its file', async (t) => {
  const tally = new Map<string, number>();
  for (let seed = 1; seed <= 15; seed += 1) t.is(await raceForKey(seed, tally), null, `seed ${seed}`);
  for (const met of ['taken', 'kept', 'object_key_taken']) t.true((tally.get(met) ?? 0) > 0, met);
});

test('A change back to an address that a revert puts back at the same time is refused', async (t) => {
  // In this schedule the change was once confirmed, although the revert had ended it.
  t.is(await runEmailChangeSchedule(1_858_930_742, { tally: new Map() }), null);
});
