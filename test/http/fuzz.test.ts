import test from 'ava';
import { fuzz } from './support/fuzz/run.js';

// The same thousand in every run; test/deep sends a hundred thousand others.
test('no request of a thousand, well made or not, gets a reply that its route does not declare', async (t) => {
  const counts = await fuzz(t, { requests: 1_000, seed: 1 });
  t.true(counts.size > 50, 'routes answer in many ways');
});
