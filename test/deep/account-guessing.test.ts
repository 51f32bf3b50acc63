import test from 'ava';
import { guessingCampaign } from '../support/simulation/guessing-campaign.js';

/* DEEP_SEED=<printed> replays a run. DEEP_BUDGET multiplies its length. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);

test('Of 10,000 distributed wrong passwords and codes, 100 and 96 are checked in a day, and the owner signs in', async (t) => {
  t.timeout(10 * 60_000);
  const { passwords, codes } = await guessingCampaign(t, { rounds: Math.round(100 * budget), seed });
  t.log(`${passwords} passwords and ${codes} codes were checked in a day`);
  t.true(passwords <= 100 && passwords > 60, `${passwords} passwords`);
  t.true(codes <= 96 && codes > 56, `${codes} codes`);
});
