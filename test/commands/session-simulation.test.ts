import test from 'ava';
import { runSchedule } from '../deep/session-schedules.js';

const schedules = 60;

test(`Refreshes, sign-ins, revocations and password changes beside each other: ${schedules} schedules`, async (t) => {
  const tally = new Map<string, number>();
  for (let seed = 1; seed <= schedules; seed += 1) {
    const problem = await runSchedule(seed, { tally });
    if (problem !== null) t.fail(`seed ${seed}: ${problem}`);
  }
  for (const what of ['refresh passed', 'refused after an ending', 'password passed', 'late write']) {
    t.true((tally.get(what) ?? 0) > 10, `the schedules hardly ever met: ${what}`);
  }
});
