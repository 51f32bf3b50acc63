import test from 'ava';
import { compareWithFolds, givenHistory } from '../support/audit/history-scene.js';

const seed = Number(process.env['DEEP_SEED'] ?? '20260105');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');

test('The history agrees with a plain fold over the log at a thousand random places', async (t) => {
  t.log(`DEEP_SEED=${seed}`);
  await compareWithFolds(t, await givenHistory(seed, 3_000), 1_000 * budget);
});
